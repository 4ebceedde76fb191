import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createOAuth } from "../../../src/oauth/index.js";
import { openSharedStore } from "../../../src/store/index.js";
import type { AuthorizationServerOptions } from "../../../src/testing/index.js";
import { browse, type OAuthWorld, openWorld, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";
import { type CompiledStore, compileStore, type StoreProgram } from "../store/store-program.js";

/**
 * Asks for the headers of one request for each line. It can stop where a kill would hurt: with the lease in its hands (`lease`), or with a
 * new token that is not stored yet (`put`).
 */
const PROGRAM = `
import { createInterface } from "node:readline";
import { createOAuth } from "./oauth/index.js";
const shared = await openSharedStore({ directory: args[0] });
let stopAt = "";
const stop = (at) => new Promise(() => { console.log("stopped at " + at); setInterval(() => {}, 1_000); });
const { credentials, leases } = shared;
const store = {
  credentials: {
    get: (key) => credentials.get(key),
    list: (resource) => credentials.list(resource),
    put: (put) => (stopAt === "put" ? stop("put") : credentials.put(put)),
    remove: (key, expected) => credentials.remove(key, expected),
  },
  leases: {
    acquire: async (claim) => {
      const result = await leases.acquire(claim);
      return stopAt === "lease" && result.kind === "held" ? stop("lease") : result;
    },
    renew: (claim) => leases.renew(claim),
    release: (name, holder) => leases.release(name, holder),
  },
};
const oauth = createOAuth({ clientName: "test", store, openUrl: false, transport: { requestTimeoutMs: 400 } });
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [url, at] = line.split(" ");
  stopAt = at;
  try {
    const headers = await oauth.authorize({ url, method: "tools/call", httpMethod: "POST", attempt: 1, operation: {} });
    console.log(headers?.Authorization ?? "nothing");
  } catch (error) {
    console.log("failed " + error.code);
  }
}
`;

const opened = new Opened();
let compiled: CompiledStore;
let directory: string;
/** Three for all tests, and one more that is killed. */
let programs: readonly StoreProgram[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "oauth-processes-"));
  compiled = await compileStore(["oauth/index.ts"]);
  programs = await Promise.all(Array.from({ length: 4 }, () => compiled.start(PROGRAM, directory)));
  await Promise.all(programs.map((program) => program.heard(1)));
});
afterEach(opened.close);
afterAll(async () => {
  for (const program of programs) program.process.kill("SIGKILL");
  await Promise.all(programs.map(({ ended }) => ended));
  await compiled.remove();
  await rm(directory, { recursive: true, force: true });
});

/** A person has signed in, and the token is over by now. */
async function signedIn(rules: AuthorizationServerOptions = {}): Promise<OAuthWorld> {
  const unixTime = Date.now;
  const issuer = { unixTime, accessTokenLifetimeMs: 1, ...rules };
  const world = await openWorld(opened, { issuer, server: { unixTime } });
  const store = await openSharedStore({ directory });
  const oauth = createOAuth({ clientName: "test", store, openUrl: (url) => void browse(url) });
  await oauth.signIn(world.server.url);
  await oauth.close();
  await store.close();
  world.issuer.change({ accessTokenLifetimeMs: 3_600_000 });
  return world;
}

/** Has a program ask, and waits for what it says. */
async function ask(index: number, { server }: OAuthWorld, stopAt = ""): Promise<string> {
  const program = programs[index];
  if (program === undefined) return "";
  const count = program.lines.length + 1;
  program.process.stdin?.write(`${server.url} ${stopAt}\n`);
  await program.heard(count);
  return program.lines[count - 1] ?? "";
}

/** Has a program ask, and kills it where it stops. */
async function killAt(index: number, world: OAuthWorld, stopAt: string): Promise<void> {
  expect(await ask(index, world, stopAt)).toBe(`stopped at ${stopAt}`);
  programs[index]?.process.kill("SIGKILL");
  await programs[index]?.ended;
}

function isGood({ issuer }: OAuthWorld, header: string): boolean {
  return issuer.isValid(header.replace("Bearer ", ""));
}

describe("processes that share a store", () => {
  it("A-7: three of them refresh a rotating token once in all", async () => {
    const world = await signedIn();

    const headers = await Promise.all([0, 1, 2].map((index) => ask(index, world)));

    expect(new Set(headers).size).toBe(1);
    expect(isGood(world, headers[0] ?? "")).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
    expect(world.issuer.tokens.filter(({ state }) => state === "revoked")).toEqual([]);
  });

  it("A-7: one is killed before it asks: another goes on when its lease ends, and nothing is lost", async () => {
    const world = await signedIn();
    await killAt(1, world, "lease");

    expect(isGood(world, await ask(0, world))).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  });

  it("A-7: one is killed with a token that it has not stored: a refresh token that may come again brings another", async () => {
    const world = await signedIn({ rotatesRefreshTokens: false });
    await killAt(2, world, "put");

    expect(isGood(world, await ask(0, world))).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
  });

  it("A-7: one is killed with a rotated token that it has not stored: a person has to sign in, and the client is kept", async () => {
    const world = await signedIn();
    await killAt(3, world, "put");

    expect(await ask(0, world)).toBe("nothing");

    const store = await openSharedStore({ directory });
    opened.push(store);
    const [record] = (await store.credentials.list(world.server.url)).filter(({ name }) => name === "tokens@");
    expect(JSON.parse(record?.text ?? "")).toMatchObject({ client: { clientId: world.issuer.clients[0]?.clientId } });
    expect(record?.text).not.toContain("accessToken");
  });
});
