import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/store/index.js";
import { type CompiledStore, compileStore, type StoreProgram } from "./store-program.js";

/** Opens the store, says so, and holds it until its input ends. */
const HOLD = `
  try {
    const store = await openSqliteStore({ directory: args[0] });
    console.log("open");
    process.stdin.on("end", async () => { await store.close(); process.exit(0); }).resume();
  } catch (error) {
    console.log(error.code);
    process.exit(0);
  }
`;

/** Waits for a word, and then tries to open the store: as many at once as there are processes. */
const RACE = `
  console.log("ready");
  process.stdin.once("data", async () => {
    try {
      await openSqliteStore({ directory: args[0] });
      console.log("open");
    } catch (error) {
      console.log(error.code);
    }
  });
`;

/** Writes two rows together, again and again, and says which number it has written and which generations it was given. */
const WRITE = `
  const store = await openSqliteStore({ directory: args[0] });
  const row = (key, attempts) => ({ scope: "device", key, desired: { generation: 1, enabled: true, identity: "x".repeat(500) },
    attempts, failures: 0, updatedAt: 0 });
  for (let n = Number(args[1]); ; n += 1) {
    const generation = await store.write(async (tx) => {
      await tx.convergence.put(row("a", n));
      const given = await tx.convergence.nextGeneration();
      await tx.convergence.put(row("b", n));
      return given;
    });
    process.stdout.write(n + " " + generation + "\\n");
    if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
`;

/** Opens the store by a relative path, and goes elsewhere. */
const MOVE = `
  process.chdir(args[0]);
  const store = await openSqliteStore({ directory: "state" });
  process.chdir("/");
  await store.write((tx) => tx.events.append(1, "fact")).catch((error) => console.log(error.details));
  await store.close();
  console.log(await openSqliteStore({ directory: args[0] + "/state" }).then((again) => again.read((tx) => tx.events.last())));
`;

/** Tries to open the store, says what came of it, and goes on with nothing. */
const TRY = `
  console.log(await openSqliteStore({ directory: args[0] }).then(() => "open", (error) => error.code));
  setInterval(() => {}, 1_000);
`;

/** Writes more than its files may hold, so that the commit fails; says how each transaction ended, and goes on. */
const OVERFLOW = `
  const store = await openSqliteStore({ directory: args[0] });
  const row = (key, identity) => ({ scope: "device", key, desired: { generation: 1, enabled: true, identity },
    attempts: 0, failures: 0, updatedAt: 0 });
  const write = async (key, identity) => {
    let outcome;
    let written = "";
    const answer = await store.write(async (tx) => {
      tx.onSettled((end) => { outcome = end; });
      await tx.convergence.put(row(key, identity));
      written = "work done";
      return "resolved";
    }).catch((error) => error.code);
    console.log([key, written, outcome, answer].join(", "));
  };
  await write("before", "x");
  await write("large", "x".repeat(500_000));
  await write("after", "x");
  console.log((await store.read((tx) => tx.convergence.listScope("device"))).map((each) => each.key).join());
`;

/** Fills its files to the last page, and then says of each transaction whether its work was begun and how it ended. */
const STARVE = `
  const store = await openSqliteStore({ directory: args[0] });
  const row = (key) => ({ scope: "device", key, desired: { generation: 1, enabled: true, identity: "x" },
    attempts: 0, failures: 0, updatedAt: 0 });
  try {
    for (let n = 0; ; n += 1) await store.write((tx) => tx.convergence.put(row("k" + n)));
  } catch {}
  for (let n = 0; n < 4; n += 1) {
    const seen = [];
    await store.write(async (tx) => {
      seen.push("begun");
      tx.onSettled((outcome) => seen.push(outcome));
      for (let i = 0; i < 400; i += 1) await tx.convergence.nextGeneration();
      await tx.convergence.put(row("new"));
    }).catch((error) => seen.push(error.code));
    console.log(seen.join());
  }
  process.exit(0);
`;

/** Says whether the driver was loaded: after the import, and after a store was opened. */
const LOADED = `
  import { createRequire } from "node:module";
  const { cache } = createRequire(import.meta.url);
  const loaded = () => Object.keys(cache).some((file) => file.includes("libsql"));
  console.log(loaded());
  await openSqliteStore({ directory: args[0] });
  console.log(loaded());
`;

describe("a store and processes", () => {
  let compiled: CompiledStore;
  let directory: string;
  const programs: StoreProgram[] = [];

  beforeAll(async () => {
    compiled = await compileStore();
  });

  afterAll(() => compiled.remove());

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "store-processes-"));
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.process.kill("SIGKILL");
      await program.ended;
    }
    await rm(directory, { recursive: true, force: true });
  });

  async function start(body: string, ...args: readonly string[]): Promise<StoreProgram> {
    const program = await compiled.start(body, directory, ...args);
    programs.push(program);
    return program;
  }

  it("R-5: belongs to one process; a second one gets store_in_use, until the first lets go", async () => {
    const holder = await start(HOLD);
    await holder.heard(1);
    expect(holder.lines).toEqual(["open"]);
    await expect(openSqliteStore({ directory })).rejects.toMatchObject({ code: "store_in_use" });
    holder.process.stdin?.end();
    await holder.ended;
    await (await openSqliteStore({ directory })).close();
  });

  it("R-5: is free for others as soon as it is closed, though the process goes on", async () => {
    const store = await openSqliteStore({ directory });
    await store.write((tx) => tx.convergence.nextGeneration());
    const refused = await start(HOLD);
    await refused.ended;
    expect(refused.lines).toEqual(["store_in_use"]);
    await store.close();
    const second = await start(HOLD);
    await second.heard(1);
    expect(second.lines).toEqual(["open"]);
  });

  it("R-5: is free for others when it could not be opened because there is no room", async () => {
    await (await openSqliteStore({ directory })).close();
    // As a killed process leaves it whose log was in the file already.
    const database = new Database(join(directory, "host.db"));
    database.exec("PRAGMA journal_mode = WAL");
    database.close();
    const refused = await compiled.startLimited(8, TRY, directory);
    programs.push(refused);
    await refused.heard(1);
    expect(refused.lines).toEqual(["store_unavailable"]);
    await (await openSqliteStore({ directory })).close();
  });

  it("R-5: is free as soon as its holder was killed", async () => {
    const holder = await start(HOLD);
    await holder.heard(1);
    holder.process.kill("SIGKILL");
    await holder.ended;
    await (await openSqliteStore({ directory })).close();
  });

  it("R-5: goes to exactly one of those who open it at the same moment", async () => {
    for (let round = 0; round < 3; round += 1) {
      const racers = await Promise.all([start(RACE), start(RACE), start(RACE)]);
      await Promise.all(racers.map((racer) => racer.heard(1)));
      for (const racer of racers) racer.process.stdin?.write("go\n");
      await Promise.all(racers.map((racer) => racer.heard(2)));
      expect(racers.map((racer) => racer.lines[1] ?? "").toSorted((a, b) => a.localeCompare(b))).toEqual([
        "open",
        "store_in_use",
        "store_in_use",
      ]);
      for (const racer of racers) racer.process.kill("SIGKILL");
      await Promise.all(racers.map((racer) => racer.ended));
    }
  });

  it("R-3: says that a transaction was rolled back when the commit itself fails, and goes on", async () => {
    const program = await compiled.startLimited(400, OVERFLOW, directory);
    programs.push(program);
    await program.ended;
    expect(program.lines).toEqual([
      "before, work done, committed, resolved",
      "large, work done, rolled_back, store_unavailable",
      "after, work done, committed, resolved",
      "after,before",
    ]);
  });

  it("R-10: begins the work also when not one page can be written any more, so that what it revokes is fenced", async () => {
    const program = await compiled.startLimited(400, STARVE, directory);
    programs.push(program);
    await program.ended;
    expect(program.lines).toEqual(Array.from({ length: 4 }, () => "begun,rolled_back,store_unavailable"));
  });

  it("R-9: is where it was opened, wherever the process goes", async () => {
    const program = await start(MOVE);
    await program.ended;
    expect(program.lines).toEqual(["1"]);
  });

  it("loads the driver only to open a file", async () => {
    const program = await start(LOADED);
    await program.ended;
    expect(program.lines).toEqual(["false", "true"]);
  });

  it("R-10: keeps what was committed, whole, when its process is killed at any moment", async () => {
    let written = 0;
    let highest = 0;
    for (const lines of [1, 30, 75, 160, 310, 40]) {
      const writer = await start(WRITE, String(written + 1));
      await writer.heard(lines);
      writer.process.kill("SIGKILL");
      await writer.ended;
      const heard = writer.lines.map((line) => line.split(" ").map(Number));
      const [lastWritten = 0] = heard.at(-1) ?? [];
      const given = heard.map(([, generation = 0]) => generation);
      expect(lastWritten).toBeGreaterThanOrEqual(written + lines);
      expect(Math.min(...given)).toBeGreaterThan(highest);
      highest = Math.max(...given);

      const store = await openSqliteStore({ directory });
      const rows = await store.read((tx) => tx.convergence.listScope("device"));
      expect(rows.map((row) => row.key)).toEqual(["a", "b"]);
      written = rows[0]?.attempts ?? 0;
      expect(rows[1]?.attempts).toBe(written);
      // What it said it had written is there; one more may be, of which it could not say it any more.
      expect(written).toBeGreaterThanOrEqual(lastWritten);
      const next = await store.write((tx) => tx.convergence.nextGeneration());
      expect(next).toBeGreaterThan(highest);
      highest = next;
      await store.close();
    }
  });
});
