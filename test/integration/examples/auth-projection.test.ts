import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { Account } from "../../../examples/auth-projection/account.js";
import { admin, authorizingConnector, Cleanup, startGateway } from "../gateway/support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

it("P-4, P-11, P-12: the example follows an account without the rest of the package", async () => {
  const upstream = "http://127.0.0.1:9/mcp";
  const gateway = await startGateway(cleanup, [
    authorizingConnector("notes", upstream, { kind: "secret" }),
    authorizingConnector("mail", upstream, { kind: "secret" }),
  ]);
  const told: (readonly string[])[] = [];
  const account = new Account({
    controlBase: gateway.origin,
    accountId: "ada",
    headers: () => ({ Cookie: "session=s-ada" }),
    onUsable: (keys) => told.push(keys),
  });
  cleanup.add(() => account.close());
  expect(await account.sync.ready).toBe(true);

  const { result } = await account.flows.start("notes", { connectorVersion: "1.0.0", secret: "key" });
  expect(await result).toEqual({ authorized: true, published: true, reason: undefined });
  expect(told).toEqual([[], ["notes"]]);

  // What the operator grants and takes away comes by itself, too.
  await admin(gateway, "POST", "/admin/grant", { accountId: "ada", connectorId: "mail" });
  account.sync.wake();
  await expect.poll(() => told.at(-1), { timeout: 5_000 }).toEqual(["mail", "notes"]);
  expect(await account.flows.disconnect("notes")).toEqual({ observed: true, reason: undefined });
  expect(told.at(-1)).toEqual(["mail"]);
});

it("the page about it has the example, and the program that uses it runs", async () => {
  const example = await readFile("examples/auth-projection/account.ts", "utf8");
  expect(await readFile("docs/auth-projection.md", "utf8")).toContain(`\`\`\`ts\n${example}\`\`\``);
  const { stdout } = await promisify(execFile)(process.execPath, ["build/examples/auth-projection.js"]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "usable: nothing",
    "ready: true",
    "to do: submit_secret",
    "usable: notes",
    "authorized: true, published: true",
    "usable: nothing",
    "disconnected: true",
    "flow: connected",
  ]);
});
