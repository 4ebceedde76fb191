import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { openVaultKey } from "../../../src/oauth/index.js";
import { AuthorizationServer, likeModernServer, ProtectedServer } from "../../../src/testing/index.js";
import { tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const TOOLS = likeModernServer({ tools: [{ name: "read" }, { name: "write" }] });

/** A server behind OAuth, as the examples meet it, and a directory of their own. */
async function start(options: Parameters<typeof AuthorizationServer.start>[0]) {
  const issuer = await AuthorizationServer.start(options);
  opened.push(issuer);
  const server = await ProtectedServer.start(TOOLS, { authorizationServers: [issuer], scopesSupported: ["files"] });
  opened.push(server);
  const directory = await mkdtemp(join(tmpdir(), "sign-in-"));
  opened.push({ close: () => rm(directory, { recursive: true, force: true }) });
  return { issuer, url: server.url, directory };
}

/** What an example, built, writes. A browser is the only one on its path: it goes wherever it is sent, and says where. */
async function run(example: string, args: readonly string[], directory: string, env: object = {}) {
  const browser = join(directory, "xdg-open");
  const visits = join(directory, "visits");
  const follow = `require("node:fs").appendFileSync(${JSON.stringify(visits)}, process.argv[2] + "\\n"); void fetch(process.argv[2]);\n`;
  await writeFile(browser, `#!${process.execPath}\n${follow}`);
  await chmod(browser, 0o700);
  await writeFile(join(directory, "open"), `#!/bin/sh\nexec "${browser}" "$1"\n`, { mode: 0o700 });
  const file = [`build/examples/${example}.js`, ...args];
  const child = promisify(execFile)(process.execPath, file, {
    timeout: 20_000,
    env: { ...process.env, ...env, PATH: `${directory}${delimiter}${process.env["PATH"] ?? ""}` },
  });
  const { stdout, stderr } = await child;
  expect(stderr).toBe("");
  const visited = await readFile(visits, "utf8").catch(() => "");
  return { lines: stdout.trimEnd().split("\n"), visits: visited === "" ? [] : visited.trimEnd().split("\n") };
}

it("A-5, A-10: the example of a desktop signs in by the browser, and the next run finds the tokens, sealed", async () => {
  const { issuer, url, directory } = await start({ allowsRegistration: true });
  const state = join(directory, "state");
  // Nothing of a test goes into a person's keychain.
  (await openVaultKey({ directory: state, keychain: "never" })).close();
  const first = await run("desktop-login", [url, "work"], directory, { STATE_DIRECTORY: state });
  expect(first.lines).toEqual(["read, write", `signed in at ${issuer.issuer} for files`]);
  expect(first.visits).toHaveLength(1);
  expect(first.visits[0]).toMatch(new RegExp(`^${issuer.origin}/authorize\\?`));
  const second = await run("desktop-login", [url, "work"], directory, { STATE_DIRECTORY: state });
  expect(second.lines).toEqual(first.lines);
  expect(second.visits).toHaveLength(1);
  const stored = await readFile(join(state, "shared.db"), "latin1");
  expect(issuer.tokens.length).toBeGreaterThan(0);
  for (const { token } of issuer.tokens) expect(stored.includes(token)).toBe(false);
});

it("A-9: the example of a service signs in with its own credentials, and says what refused it", async () => {
  const clients = [{ clientId: "service", clientSecret: "s3cret", redirectUris: [] }];
  const { issuer, url, directory } = await start({ clients, allowsClientCredentials: true });
  const env = { CLIENT_ID: "service", CLIENT_SECRET: "s3cret" };
  const { lines, visits } = await run("service-login", [url], directory, env);
  expect(lines).toEqual(["read, write"]);
  expect(visits).toEqual([]);
  expect(tokenRequests(issuer, "client_credentials")).toHaveLength(1);
  const refused = run("service-login", [url], directory, { ...env, CLIENT_SECRET: "wrong" });
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: `${issuer.issuer} invalid_client\n`, stdout: "" });
});

it("A-10: the example of a store of one's own keeps what the next run finds", async () => {
  const { issuer, url, directory } = await start({ allowsRegistration: true });
  const file = join(directory, "tokens.json");
  expect((await run("token-store", [url, file], directory)).lines).toEqual(["read, write"]);
  const { visits, lines } = await run("token-store", [url, file], directory);
  expect(lines).toEqual(["read, write"]);
  expect(visits).toHaveLength(1);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // An expired token is refreshed in the same place, and no one is asked.
  for (const { kind, token } of issuer.tokens) if (kind === "access") issuer.expireNow(token);
  expect((await run("token-store", [url, file], directory)).visits).toHaveLength(1);
  expect(tokenRequests(issuer, "refresh_token")).toHaveLength(1);
});
