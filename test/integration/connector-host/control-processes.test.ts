import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { releaseOf } from "../../support/releases.js";
import { type CompiledStore, compileStore, type StoreProgram } from "../store/store-program.js";

/**
 * Opens the host of a directory, or talks to the one that has it. Does what it is told line by line, and says what came of it.
 */
const HOST = `
  import { createInterface } from "node:readline";
  const { connectToHost, openConnectorHost } = await import(new URL("./connector-host/index.js", import.meta.url));
  const [stateDirectory, release] = [args[0], JSON.parse(args[1])];
  let host;
  let connection;
  const options = { baseUrl: "http://127.0.0.1:9", releases: [release], accounts: { authorize: () => ({}) },
    hostInfo: { name: "desk", version: "1.2.3" }, hintsUrl: false, stateDirectory };
  const deeds = {
    open: async () => { host = await openConnectorHost(options); return "open"; },
    connect: async () => { connection = await connectToHost({ stateDirectory }); return "connected"; },
    status: async () => {
      const { processId, connectors } = await connection.status();
      return [processId, ...connectors.map((each) => each.connectorKey + " " + each.state)].join();
    },
    close: async () => { await host.close(); return "closed"; },
  };
  console.log(String(process.pid));
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(await deeds[line]().catch((error) => error.code + " " + error.delivery));
  }
  process.exit(0);
`;

describe("a host and other processes", () => {
  let compiled: CompiledStore;
  let directory: string;
  const programs: StoreProgram[] = [];

  beforeAll(async () => {
    compiled = await compileStore(["connector-host/index.ts"]);
  });

  afterAll(() => compiled.remove());

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "control-processes-"));
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.process.kill("SIGKILL");
      await program.ended;
    }
    await rm(directory, { recursive: true, force: true });
  });

  async function start(): Promise<StoreProgram> {
    const program = await compiled.start(HOST, directory, JSON.stringify(releaseOf("a")));
    programs.push(program);
    await program.heard(1);
    return program;
  }

  /** Tells a program to do something, and answers what it says of it. */
  async function tell(program: StoreProgram, deed: string): Promise<string | undefined> {
    const count = program.lines.length + 1;
    program.process.stdin?.write(`${deed}\n`);
    await program.heard(count);
    return program.lines[count - 1];
  }

  it("R-5: the second gets store_in_use and talks to the first; when that was killed, it takes its place", async () => {
    const [first, second, third] = await Promise.all([start(), start(), start()]);
    expect(await tell(first, "open")).toBe("open");
    expect(await tell(second, "open")).toBe("store_in_use not_sent");
    expect(await tell(second, "connect")).toBe("connected");
    expect(await tell(second, "status")).toBe(`${first.lines[0] ?? ""},a authorization_required`);

    first.process.kill("SIGKILL");
    await first.ended;
    expect(await readdir(directory)).toContain("control.sock");
    expect(await tell(second, "status")).toBe("connect_failed not_sent");
    expect(await tell(third, "connect")).toBe("connect_failed not_sent");

    expect(await tell(second, "open")).toBe("open");
    expect(await tell(third, "open")).toBe("store_in_use not_sent");
    expect(await tell(third, "connect")).toBe("connected");
    expect(await tell(third, "status")).toBe(`${second.lines[0] ?? ""},a authorization_required`);
    // The connection from before reaches the new one at the same place: itself.
    expect(await tell(second, "status")).toBe(`${second.lines[0] ?? ""},a authorization_required`);

    expect(await tell(second, "close")).toBe("closed");
    expect(await readdir(directory)).toEqual(["calls.db", "host.db"]);
    expect(await tell(third, "status")).toBe("connect_failed not_sent");
    expect(await tell(third, "open")).toBe("open");
  });
});
