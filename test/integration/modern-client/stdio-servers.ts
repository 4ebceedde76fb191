import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Delivery, deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import { ModernStdioClient, type ModernStdioClientOptions } from "../../../src/modern-client/index.js";
import type { Diagnostic } from "../../../src/protocol/index.js";

const program = (name: string): string =>
  fileURLToPath(new URL(`../../../build/test/programs/${name}.js`, import.meta.url));

/** What a client is made with to run the scripted server of `test/programs`. */
export function scripted(script: object = {}, more: Partial<ModernStdioClientOptions> = {}): ModernStdioClientOptions {
  return {
    command: process.execPath,
    args: [program("modern-stdio-server"), JSON.stringify(script)],
    clientInfo: { name: "test", version: "1" },
    closeGraceMs: 300,
    firstRestartDelayMs: 10,
    ...more,
  };
}

/** What a client is made with to run the official server. */
export function official(more: Partial<ModernStdioClientOptions> = {}): ModernStdioClientOptions {
  return { ...scripted({}, more), args: [program("official-stdio-server")] };
}

/** A client that is closed when the test ends, and what it was told. */
export function connect(options: ModernStdioClientOptions) {
  const diagnostics: Diagnostic[] = [];
  const client = new ModernStdioClient({ onDiagnostic: (one) => void diagnostics.push(one), ...options });
  onTestFinished(() => client.close());
  const valueOf = async (name: string, args = {}): Promise<unknown> =>
    (await client.callTool({ name, arguments: args })).structuredContent;
  return { client, diagnostics, valueOf, kinds: () => diagnostics.map(({ kind }) => kind) };
}

/** A file that a scripted server writes its starts into, and how to read them. */
export function startsFile() {
  const folder = mkdtempSync(join(tmpdir(), "starts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const starts = join(folder, "starts");
  const pids = (): number[] => {
    try {
      return readFileSync(starts, "utf8").trim().split("\n").map(Number);
    } catch {
      return [];
    }
  };
  return { starts, pids };
}

export interface Verdict {
  readonly code: unknown;
  readonly delivery: Delivery | undefined;
}

/** How a call failed: its code, or the reason that is no error of ours, and the verdict. */
export async function verdict(call: Promise<unknown>): Promise<Verdict | "resolved"> {
  try {
    await call;
    return "resolved";
  } catch (error) {
    return { code: isRemoteConnectorError(error) ? error.code : error, delivery: deliveryOf(call) };
  }
}

/** Whether a process still runs; one that waits to be collected does not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}
