import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type SuperviseCommandOptions,
  type SupervisedServer,
  type SupervisedState,
  superviseServer,
} from "../../../src/connect/index.js";

/** The programs of `test/programs` that are supervised. */
type Program = "modern-stdio-server" | "restless-stdio-server";

/** Options for one of them; each of its starts leaves a line in the file. */
export function commandOf(name: Program, script: object): SuperviseCommandOptions {
  const path = fileURLToPath(new URL(`../../../build/test/programs/${name}.js`, import.meta.url));
  return {
    command: process.execPath,
    args: [path, JSON.stringify(script)],
    clientInfo: { name: "test", version: "1" },
    // What is tested elsewhere is how an era is found.
    revisions: [name === "modern-stdio-server" ? "2026-07-28" : "2025-11-25"],
    closeGraceMs: 300,
    firstRestartDelayMs: 20,
    longestRestartDelayMs: 100,
  };
}

/** A supervised server of `test/programs`, and all that it told. Closed when the test is over. */
export class Supervised {
  readonly #starts: string;
  /** States, and lists as the names of their tools. */
  readonly told: (SupervisedState | readonly string[])[] = [];
  readonly server: SupervisedServer;

  constructor(name: Program, script: object = {}, options: Partial<SuperviseCommandOptions> = {}) {
    const folder = mkdtempSync(join(tmpdir(), "supervised-"));
    this.#starts = join(folder, "starts");
    this.server = superviseServer({
      ...commandOf(name, { starts: this.#starts, ...script }),
      onState: (state) => this.told.push(state),
      onTools: ({ tools }) => this.told.push(tools.map((tool) => tool.name)),
      ...options,
    });
    onTestFinished(async () => {
      await this.server.close();
      rmSync(folder, { recursive: true });
    });
  }

  /** The process ids of all starts so far. */
  get pids(): readonly number[] {
    try {
      return readFileSync(this.#starts, "utf8").trim().split("\n").map(Number);
    } catch {
      return [];
    }
  }

  get lastPid(): number {
    return this.pids.at(-1) ?? Number.NaN;
  }

  get kinds(): readonly string[] {
    return this.told.flatMap((each) => ("kind" in each ? [each.kind] : []));
  }

  get lists(): readonly (readonly string[])[] {
    return this.told.flatMap((each) => ("kind" in each ? [] : [each]));
  }

  async valueOf(name: string, args: Record<string, number> = {}): Promise<unknown> {
    return (await this.server.callTool({ name, arguments: args })).structuredContent;
  }
}
