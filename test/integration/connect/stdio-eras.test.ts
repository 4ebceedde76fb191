import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect, type ConnectStdioOptions, createEraMemory, type McpClient } from "../../../src/connect/index.js";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { failureOf } from "./parties.js";

const clientInfo = { name: "test", version: "1" };

function program(name: string): string {
  return fileURLToPath(new URL(`../../../build/test/programs/${name}.js`, import.meta.url));
}

/** Connects to a scripted server of either era; each start leaves a line in a file. */
class Bench {
  readonly #starts: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "eras-"));

  constructor() {
    this.#starts = join(this.#folder, "starts");
    onTestFinished(() => rmSync(this.#folder, { recursive: true }));
  }

  get starts(): number {
    return this.#pids().length;
  }

  get lastPid(): number {
    return Number(this.#pids().at(-1));
  }

  #pids(): readonly string[] {
    return readFileSync(this.#starts, "utf8").trim().split("\n");
  }

  async reach(name: string, script: object, options: Partial<ConnectStdioOptions> = {}): Promise<McpClient> {
    const args = [program(name), JSON.stringify({ starts: this.#starts, ...script })];
    const client = await connect({ command: process.execPath, args, clientInfo, closeGraceMs: 300, ...options });
    onTestFinished(() => client.close());
    return client;
  }
}

describe("connect over stdio", () => {
  it("L-21 keeps the process of a modern server that it probed", async () => {
    const bench = new Bench();
    const client = await bench.reach("modern-stdio-server", {});
    expect([client.era, client.revision]).toEqual(["modern", "2026-07-28"]);
    await client.callTool({ name: "echo" });
    expect(bench.starts).toBe(1);
  });

  it("L-21 W-27 starts a legacy server once more, without a probe", async () => {
    const bench = new Bench();
    const client = await bench.reach("scripted-stdio-server", {});
    expect(client.era).toBe("legacy");
    await client.callTool({ name: "echo" });
    expect(bench.starts).toBe(2);
  });

  it("L-21 takes the silence of a server for the legacy era", async () => {
    const bench = new Bench();
    const client = await bench.reach(
      "scripted-stdio-server",
      { discover: "silence" },
      { modern: { probeTimeoutMs: 300 } },
    );
    expect(client.era).toBe("legacy");
    expect(bench.starts).toBe(2);
  });

  it("L-21 takes a server that dies of the probe for the legacy era, after one probe", async () => {
    const bench = new Bench();
    const client = await bench.reach("scripted-stdio-server", { discover: "exit" });
    expect(client.era).toBe("legacy");
    expect(bench.starts).toBe(2);
  });

  it("L-22 remembers the era of a command", async () => {
    const bench = new Bench();
    const eraMemory = createEraMemory();
    await bench.reach("scripted-stdio-server", {}, { eraMemory });
    await bench.reach("scripted-stdio-server", {}, { eraMemory });
    expect(bench.starts).toBe(3);
  });

  it("L-20 reports the probe's failure and that of the handshake when the program is no server", async () => {
    const connecting = connect({ command: process.execPath, args: ["-e", "process.exit(7)"], clientInfo });
    const error = await failureOf(connecting);
    expect(isRemoteConnectorError(error, "process_exited") && error.details.exitCode).toBe(7);
    expect(isRemoteConnectorError(error.cause, "process_exited") && error.cause.details.exitCode).toBe(7);
  });

  it("F-1 is not sent when there is no such program", async () => {
    const error = await failureOf(connect({ command: "no-such-program-anywhere", clientInfo }));
    expect([error.code, error.delivery]).toEqual(["spawn_failed", "not_sent"]);
  });

  it.each(["modern-stdio-server", "scripted-stdio-server"])(
    "W-40 tells of the end of a process of %s that nobody calls",
    async (name) => {
      const bench = new Bench();
      const ends: unknown[] = [];
      const onProcessEnd = (error: unknown): never => {
        ends.push(isRemoteConnectorError(error, "process_exited") && error.details.signal);
        throw new Error("It listens, and decides nothing.");
      };
      const client = await bench.reach(name, {}, { onProcessEnd });
      await client.listAllTools();
      process.kill(bench.lastPid, "SIGKILL");
      await vi.waitFor(() => expect(ends).toEqual(["SIGKILL"]));
    },
  );
});
