import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/connect/index.js";
import { openSharedStore, type SharedStore } from "../../../src/store/index.js";
import { likeLegacyServer, ScriptedServer } from "../../../src/testing/index.js";
import { type CompiledStore, compileStore, type StoreProgram } from "./store-program.js";

const KEY = { resource: "https://mcp.example/mcp", name: "tokens" };

/**
 * Raises the number in a credential, under a lease, as often as it is told: what only one may do at a time is to set the text to
 * "busy" and back. Whoever finds it busy while it holds the lease, or loses a compare-and-set, says so. Begins with the others.
 */
const REFRESH = `
  const [directory, holder, times, ttlMs] = [args[0], args[1], Number(args[2]), Number(args[3])];
  const key = ${JSON.stringify(KEY)};
  const { credentials, leases, eraMemory } = await openSharedStore({ directory });
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  console.log("ready");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  const lease = () => ({ name: "refresh", holder, ttlMs, now: Date.now() });
  for (let n = 0; n < times; n += 1) {
    for (;;) {
      const claimed = await leases.acquire(lease());
      if (claimed.kind === "held") break;
      await pause(1);
    }
    const before = await credentials.get(key);
    if (before?.text.startsWith("busy")) console.log("left by one that was killed");
    const count = Number((before?.text ?? "0").replace("busy ", ""));
    const busy = await credentials.put({ ...key, text: "busy " + count, expected: before?.generation, now: Date.now() });
    if (busy.kind === "conflict") console.log("lost the first");
    if (n % 3 === 0) await pause(1);
    const done = await credentials.put({ ...key, text: String(count + 1), expected: busy.generation, now: Date.now() });
    if (done.kind === "conflict") console.log("lost the second");
    await eraMemory.write(holder + n, { era: "modern", decidedAt: n });
    if (!(await leases.release("refresh", holder))) console.log("lost the lease");
    console.log("raised");
  }
  process.exit(0);
`;

/** Takes the lease, writes half of what it has to, and waits to be killed. */
const DIE = `
  const { credentials, leases } = await openSharedStore({ directory: args[0] });
  const key = ${JSON.stringify(KEY)};
  console.log("ready");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  for (;;) {
    const claimed = await leases.acquire({ name: "refresh", holder: "doomed", ttlMs: Number(args[1]), now: Date.now() });
    if (claimed.kind === "held") break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const before = await credentials.get(key);
  const text = "busy " + Number(before?.text ?? "0");
  await credentials.put({ ...key, text, expected: before?.generation, now: Date.now() });
  console.log("holds");
  setInterval(() => {}, 1_000);
`;

/** Raises a number as fast as it can, by compare and set alone, and is killed at any moment. */
const RACE = `
  const { credentials } = await openSharedStore({ directory: args[0] });
  const key = ${JSON.stringify(KEY)};
  for (;;) {
    const row = await credentials.get(key);
    const text = String(Number(row?.text ?? "0") + 1);
    const put = await credentials.put({ ...key, text, expected: row?.generation, now: Date.now() });
    if (put.kind === "written") process.stdout.write(text + " " + put.generation + "\\n");
    await new Promise((resolve) => setImmediate(resolve));
  }
`;

/** Reaches a server with the eras that are remembered in the store. */
const CONNECT = `
  const { connect } = await import(new URL("./connect/index.js", import.meta.url));
  const { eraMemory } = await openSharedStore({ directory: args[0] });
  const client = await connect({ endpoint: args[1], clientInfo: { name: "other", version: "1.0.0" }, eraMemory });
  console.log(client.era);
  await client.close();
  process.exit(0);
`;

/** Asks for an era two hours after it was written. */
const ASK = `
  const clock = { now: () => Date.now() + 2 * 60 * 60_000, schedule: (delayMs, run) => setTimeout(run, delayMs) };
  const { eraMemory, leases } = await openSharedStore({ directory: args[0], clock });
  const say = (value) => console.log(value?.era ?? value?.code ?? "nothing");
  await leases.acquire({ name: "a", holder: "b", ttlMs: 1, now: 1 }).then(say, say);
  await eraMemory.read("server").then(say, say);
  process.exit(0);
`;

/** Opens a store that is not there yet, at the same moment as the others. */
const OPEN = `
  console.log("ready");
  process.stdin.once("data", async () => {
    const store = await openSharedStore({ directory: args[0] }).catch((error) => console.log(error.code, error.details));
    console.log((await store?.credentials.list("x"))?.length);
    await store?.close();
    process.exit(0);
  });
`;

describe("a shared store and processes", () => {
  let compiled: CompiledStore;
  let directory: string;
  const programs: StoreProgram[] = [];
  const stores: SharedStore[] = [];

  beforeAll(async () => {
    compiled = await compileStore(["connect/index.ts"]);
  });

  afterAll(() => compiled.remove());

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "shared-processes-"));
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.process.kill("SIGKILL");
      await program.ended;
    }
    for (const store of stores.splice(0)) await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function start(body: string, ...args: readonly string[]): Promise<StoreProgram> {
    const program = await compiled.start(body, directory, ...args);
    programs.push(program);
    return program;
  }

  async function open(): Promise<SharedStore> {
    const store = await openSharedStore({ directory });
    stores.push(store);
    return store;
  }

  /** Lets all of them begin at once, when each is ready. */
  async function begin(those: readonly StoreProgram[]): Promise<void> {
    await Promise.all(those.map((program) => program.heard(1)));
    for (const program of those) program.process.stdin?.write("go\n");
  }

  it("R-9: loses nothing among four processes, and passes a lease on after its time when its holder was killed", async () => {
    const ttlMs = 2_500;
    const doomed = await start(DIE, String(ttlMs));
    const workers = await Promise.all(["a", "b", "c"].map((name) => start(REFRESH, name, "30", String(ttlMs))));
    await begin([doomed, ...workers]);
    await doomed.heard(2);
    const killedAt = Date.now();
    doomed.process.kill("SIGKILL");
    await doomed.ended;
    await Promise.all(workers.map((worker) => worker.ended));
    expect(Date.now() - killedAt).toBeGreaterThan(ttlMs / 2);
    const store = await open();
    expect(await store.credentials.get(KEY)).toMatchObject({ text: "90" });
    const lines = workers.flatMap((worker) => worker.lines);
    expect(lines.filter((line) => line === "raised")).toHaveLength(90);
    expect(lines.filter((line) => line !== "raised" && line !== "ready")).toEqual(["left by one that was killed"]);
    for (const name of ["a0", "a29", "b0", "b29", "c0", "c29"]) {
      expect(await store.eraMemory.read(name)).toMatchObject({ era: "modern" });
    }
  });

  it("R-10: keeps every compare-and-set when processes are killed at any moment", async () => {
    const racers = await Promise.all(Array.from({ length: 4 }, () => start(RACE)));
    for (const [i, racer] of racers.entries()) {
      await racer.heard(15 * (i + 1));
      racer.process.kill("SIGKILL");
      await racer.ended;
    }
    const said = racers.flatMap((racer) => racer.lines.filter((line) => /^\d+ \d+$/.test(line)));
    const numbers = said.map((line) => Number(line.split(" ")[0]));
    const row = await (await open()).credentials.get(KEY);
    const last = Number(row?.text);
    // Nobody wrote a number that another one had written; what was written last may not have been said any more.
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(last).toBeGreaterThanOrEqual(Math.max(...numbers));
    expect(last - numbers.length).toBeLessThanOrEqual(racers.length);
    expect(row?.generation).toBe(last);
  });

  it("R-10: tells the eras that it knows also when there is no room to note that somebody asked", async () => {
    const store = await openSharedStore({ directory });
    await store.eraMemory.write("server", { era: "legacy", decidedAt: 1 });
    const program = await compiled.startLimited(8, ASK, directory);
    programs.push(program);
    await program.ended;
    expect(program.lines).toEqual(["store_unavailable", "legacy"]);
    await store.close();
  });

  it("R-9: is made once by those who open it at the same moment", async () => {
    const openers = await Promise.all(Array.from({ length: 4 }, () => start(OPEN)));
    await begin(openers);
    await Promise.all(openers.map((opener) => opener.ended));
    expect(openers.map((opener) => opener.lines)).toEqual(openers.map(() => ["ready", "0"]));
  });

  it("L-22, R-9: an era that one process found is read by another, which does not probe", async () => {
    const server = await ScriptedServer.start(likeLegacyServer({ tools: [{ name: "echo" }], revision: "2025-06-18" }));
    try {
      const other = await start(CONNECT, server.url);
      await other.ended;
      expect(other.lines).toEqual(["legacy"]);
      const probes = (): number => server.requests.filter(({ method }) => method === "server/discover").length;
      expect(probes()).toBe(1);
      const { eraMemory } = await open();
      const clientInfo = { name: "this", version: "1.0.0" };
      const client = await connect({ endpoint: server.url, clientInfo, eraMemory });
      expect(client.era).toBe("legacy");
      await client.close();
      expect(probes()).toBe(1);
    } finally {
      await server.close();
    }
  });
});
