import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type CompiledStore, compileStore, type StoreProgram } from "../store/store-program.js";
import { GROWTH } from "./growth-program.js";
import { HOST_GROWTH } from "./host-growth-program.js";

const counts = z.object({
  heapBytes: z.number(),
  fileBytes: z.number(),
  rows: z.record(z.string(), z.number()),
  activeScopes: z.number(),
  queue: z.record(z.string(), z.number()),
  keys: z.record(z.string(), z.number()),
  routes: z.record(z.string(), z.number()),
  lists: z.number(),
  timers: z.number(),
});

interface Counts {
  readonly before: z.infer<typeof counts>;
  readonly after: z.infer<typeof counts>;
}

/** What a whole host says of itself. */
const hostCounts = z.object({
  heapBytes: z.number(),
  rows: z.record(z.string(), z.number()),
  routes: z.record(z.string(), z.number()),
  keys: z.record(z.string(), z.number()),
  queue: z.record(z.string(), z.number()),
  held: z.record(z.string(), z.number()),
  process: z.record(z.string(), z.number()),
});

const MiB = 2 ** 20;

describe("what grows", () => {
  const folders: string[] = [];
  const programs: StoreProgram[] = [];
  let compiled: CompiledStore;
  let inMemory: Promise<Counts>;
  let onDisk: Promise<Counts>;
  let installs: Promise<Counts>;
  let ofHost: ReturnType<typeof runHost>;

  beforeAll(async () => {
    compiled = await compileStore([
      "reconcile/index.ts",
      "auth-projection/index.ts",
      "connector-host/routes/index.ts",
      "connector-host/activation/index.ts",
      "connector-host/host/housekeeping.ts",
      "connector-host/index.ts",
    ]);
    // Side by side: each is a process, and none of them measures time.
    inMemory = run("memory", "logins", 1_000, 9_000, 6);
    onDisk = run("sqlite", "logins", 500, 400, 3);
    installs = run("memory", "installs", 750, 2_500, 6);
    ofHost = runHost(25, 200);
    // Each test hears of its own when it comes to it.
    for (const each of [inMemory, onDisk, installs, ofHost]) each.catch(() => undefined);
  });
  afterAll(async () => {
    for (const program of programs) program.process.kill("SIGKILL");
    await Promise.all(programs.map(({ ended }) => ended));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    await compiled.remove();
  });

  /** What there is after some rounds, when everything that is bounded is full, and after many more. */
  async function run(
    kind: "memory" | "sqlite",
    what: "logins" | "installs",
    warmUp: number,
    rounds: number,
    perDay: number,
  ): Promise<Counts> {
    const folder = await mkdtemp(join(tmpdir(), "growth-"));
    folders.push(folder);
    const program = await compiled.start(GROWTH, kind, folder, what, String(warmUp), String(rounds), String(perDay));
    programs.push(program);
    await program.ended;
    const [before, after, ...more] = program.lines;
    expect(more).toEqual([]);
    return { before: counts.parse(JSON.parse(before ?? "")), after: counts.parse(JSON.parse(after ?? "")) };
  }

  /** As {@link run}: a round is 25 connectors of each kind, and 50 agents. */
  async function runHost(warmUp: number, rounds: number) {
    const program = await compiled.start(HOST_GROWTH, String(warmUp), String(rounds));
    programs.push(program);
    await program.ended;
    const [before, after, ...more] = program.lines;
    expect(more).toEqual([]);
    return { before: hostCounts.parse(JSON.parse(before ?? "")), after: hostCounts.parse(JSON.parse(after ?? "")) };
  }

  /** The same sizes, and no more memory or rows than chance explains. */
  function expectNoGrowth({ before, after }: Counts): void {
    const { heapBytes, fileBytes, rows, ...sizes } = after;
    const { heapBytes: heapBefore, fileBytes: fileBefore, rows: rowsBefore, ...sizesBefore } = before;
    expect(sizes).toEqual(sizesBefore);
    for (const [kind, count] of Object.entries(rows)) {
      expect([kind, count]).toEqual([kind, expect.toSatisfy((n: number) => n <= (rowsBefore[kind] ?? 0) * 1.02 + 20)]);
    }
    expect(heapBytes - heapBefore).toBeLessThan(MiB);
    expect(fileBytes - fileBefore).toBeLessThan(MiB / 4);
  }

  it("R-11: does not, through 10,000 logins with three connectors each, of accounts of which most never come back", async () => {
    const { before, after } = await inMemory;
    expectNoGrowth({ before, after });
    // 90 days of them, at six a day.
    expect(after.rows["accounts"]).toBeLessThan(6 * 90);
    expect(after.routes).toMatchObject({ published: 0, retiring: 0 });
    // Only of accounts that have rows.
    expect(after.routes["fences"]).toBeLessThan(after.rows["accounts"] ?? 0);
    expect(after.keys["known"]).toBe(0);
  }, 600_000);

  it("R-11: does not on disk", async () => {
    const { before, after } = await onDisk;
    expectNoGrowth({ before, after });
    expect(after.rows["accounts"]).toBeLessThan(3 * 90);
  }, 600_000);

  it("R-11: does not, through 10,000 connectors that one account installs and removes", async () => {
    const { before, after } = await installs;
    expectNoGrowth({ before, after });
    expect(after.keys["known"]).toBe(1);
    expect(after.rows).toMatchObject({ accounts: 1, convergence: 1 });
    expect(after.routes).toMatchObject({ published: 1, scopes: 1, fences: 1 });
  }, 600_000);

  it("H-16: a whole host does not, through 10,000 connectors, half installed and half registered, and 10,000 agents", async () => {
    const { before, after } = await ofHost;
    const { heapBytes, process, rows, ...sizes } = after;
    const { heapBytes: heapBefore, process: processBefore, rows: rowsBefore, ...sizesBefore } = before;
    expect(sizes).toEqual(sizesBefore);
    // Two scopes are open, and activations are remembered.
    const { activations, ...held } = sizes.held;
    const { scopes, ...routes } = sizes.routes;
    expect([activations, scopes]).toEqual([256, 2]);
    expect(new Set(Object.values({ ...held, ...routes, ...sizes.keys, ...sizes.queue }))).toEqual(new Set([0]));
    // Of what happened and of what was authorized there is what the last round left.
    const { accounts, events = 0, projections = 0, ...others } = rows;
    expect(accounts).toBe(1);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
    expect(projections).toBeLessThanOrEqual(rowsBefore["projections"] ?? 0);
    expect(events).toBeLessThan((rowsBefore["events"] ?? 0) + 100);
    for (const [name, count] of Object.entries(process)) expect(count - (processBefore[name] ?? 0)).toBeLessThan(4);
    expect(heapBytes - heapBefore).toBeLessThan(MiB / 2);
  }, 600_000);
});
