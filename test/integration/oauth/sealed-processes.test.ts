import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createOAuth, createVaultKey, openFileStore, type OAuthStore, sealedStore } from "../../../src/oauth/index.js";
import { openSharedStore } from "../../../src/store/index.js";
import { Gate } from "../../../src/testing/index.js";
import { settle } from "../../support/fake-clock.js";
import { browse, type OAuthWorld, openWorld, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const ROOT = resolve(import.meta.dirname, "../../..");
const SECRET = Buffer.alloc(32, 7);

/** Says what each request whose URL comes on a line would go out with, or the code of its failure. */
const PROGRAM = `
import { createInterface } from "node:readline";
import { createOAuth, createVaultKey, openFileStore, openSharedStore, sealedStore } from "./all.mjs";
const [kind, directory] = process.argv.slice(2);
const key = createVaultKey({ keys: [Buffer.alloc(32, 7)] });
const store = kind === "files" ? await openFileStore({ directory, key }) : sealedStore(await openSharedStore({ directory }), key);
const oauth = createOAuth({ clientName: "test", store, openUrl: false, transport: { requestTimeoutMs: 400 } });
console.log("ready");
for await (const url of createInterface({ input: process.stdin })) {
  try {
    const headers = await oauth.authorize({ url, method: "tools/call", httpMethod: "POST", attempt: 1, operation: {} });
    console.log(headers?.Authorization ?? "nothing");
  } catch (error) {
    console.log("failed " + error.code);
  }
}
`;

/** A process, and what it said. */
interface Program {
  readonly child: ChildProcess;
  /** The next line; `undefined`: it has ended. */
  next(): Promise<string | undefined>;
}

const opened = new Opened();
let code: string;

beforeAll(async () => {
  code = await mkdtemp(join(tmpdir(), "oauth-programs-"));
  await symlink(join(ROOT, "node_modules"), join(code, "node_modules"), "dir");
  const entry = join(code, "all.ts");
  const sources = ["oauth/index.ts", "store/index.ts"].map((file) => join(ROOT, "src", file));
  await writeFile(entry, sources.map((file) => `export * from ${JSON.stringify(file)};\n`).join(""));
  await writeFile(join(code, "program.mjs"), PROGRAM);
  const bundle = await rolldown({ input: entry, platform: "node", external: /^(?![./])/ });
  await bundle.write({ file: join(code, "all.mjs"), codeSplitting: false });
  await bundle.close();
});
afterEach(opened.close);
afterAll(() => rm(code, { recursive: true, force: true }));

function start(kind: string, directory: string): Program {
  const child = spawn(process.execPath, [join(code, "program.mjs"), kind, directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    next: async () => {
      const { done, value } = await lines.next();
      return done === true ? undefined : value;
    },
  };
}

async function end({ child }: Program): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe.each(["shared.db", "files"])("processes that share sealed tokens in %s", (kind) => {
  const key = createVaultKey({ keys: [SECRET] });
  let directory: string;
  let programs: readonly Program[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "oauth-processes-"));
    programs = [0, 1, 2].map(() => start(kind, join(directory, "store")));
    for (const program of programs) expect(await program.next()).toBe("ready");
  });
  afterAll(async () => {
    await Promise.all(programs.map(end));
    await rm(directory, { recursive: true, force: true });
  });

  /** A person has signed in, and the token is over by now. */
  const signIn = async (): Promise<OAuthWorld> => {
    const unixTime = Date.now;
    const world = await openWorld(opened, { issuer: { unixTime, accessTokenLifetimeMs: 1 }, server: { unixTime } });
    const place = join(directory, "store");
    let store: OAuthStore;
    if (kind === "files") store = await openFileStore({ directory: place, key });
    else {
      const shared = await openSharedStore({ directory: place });
      opened.push(shared);
      store = sealedStore(shared, key);
    }
    const oauth = createOAuth({ clientName: "test", store, openUrl: (url) => void browse(url) });
    opened.push(oauth);
    await oauth.signIn(world.server.url);
    world.issuer.change({ accessTokenLifetimeMs: 3_600_000 });
    return world;
  };

  const ask = (program: Program, { server }: OAuthWorld): Promise<string | undefined> => {
    program.child.stdin?.write(`${server.url}\n`);
    return program.next();
  };

  const goodTokens = ({ issuer }: OAuthWorld, headers: readonly (string | undefined)[]): boolean =>
    headers.every((header) => issuer.isValid((header ?? "").replace("Bearer ", "")));

  it("A-7: three of them refresh a rotating token once in all", async () => {
    const world = await signIn();
    const headers = await Promise.all(programs.map((program) => ask(program, world)));
    expect(new Set(headers).size).toBe(1);
    expect(goodTokens(world, headers)).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);
  });

  it("A-7: one is killed while the authorization server has not begun: the others go on, and nothing is lost", async () => {
    const world = await signIn();
    world.issuer.addFault({ endpoint: "token", kind: "delay", ms: 10_000 });
    const [first, ...others] = programs;
    if (first === undefined) return;
    void ask(first, world);
    while (tokenRequests(world.issuer, "refresh_token").length === 0) await settle();
    const asking = others.map((program) => ask(program, world));
    await end(first);

    const headers = await Promise.all(asking);

    expect(new Set(headers).size).toBe(1);
    expect(goodTokens(world, headers)).toBe(true);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
  });

  it("A-7: one is killed before the answer comes that has the only good token: the others know that nobody is signed in", async () => {
    const world = await signIn();
    const gate = new Gate();
    const seen = { answers: 0 };
    world.issuer.change({
      async rewrite(answer, { endpoint }) {
        if (endpoint === "token") seen.answers += 1;
        if (seen.answers === 1) await gate.opened;
        return answer;
      },
    });
    const [, second, third] = programs;
    if (second === undefined || third === undefined) return;
    void ask(second, world);
    while (seen.answers === 0) await settle();
    const asking = ask(third, world);
    await end(second);
    expect(await asking).toBe("nothing");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
    expect(await ask(third, world)).toBe("nothing");
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
    gate.open();
  });
});
