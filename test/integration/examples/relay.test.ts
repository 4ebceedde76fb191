import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { ScriptedGateway } from "../../support/scripted-gateway.js";

it("H-7: the example of a relay: the desktop makes the guest's requests, and revokes its lease", async () => {
  const gateway = await ScriptedGateway.start();
  onTestFinished(() => gateway.close());
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "build/examples/relay-desktop.js",
    gateway.url,
  ]);
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "desktop: docs tools/list",
    "guest: echo",
    "desktop: docs tools/call",
    String.raw`guest: [{"type":"text","text":"{\"text\":\"hello\"}"}]`,
    "guest: relay_refused not_sent",
  ]);
  expect(gateway.calls.map(({ request }) => request.headers.cookie)).toEqual(["session=of-ada", "session=of-ada"]);
});

it.each(["relay-desktop", "relay-guest"])("the page about the relay has the example %s as it runs", async (example) => {
  const source = await readFile(`examples/${example}.ts`, "utf8");
  expect(await readFile("docs/relay.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});
