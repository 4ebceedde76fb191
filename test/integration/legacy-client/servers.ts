import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LegacyStdioClient, type LegacyStdioOptions } from "../../../src/legacy-client/index.js";
import { isJsonObject, type JsonObject } from "../../../src/protocol/index.js";

const SCRIPTED = fileURLToPath(new URL("../../../build/test/programs/scripted-stdio-server.js", import.meta.url));

const clientInfo = { name: "test", version: "1" };

/** Options that start the scripted server of `test/programs` with this script. */
export function scripted(script: object = {}, more: Partial<LegacyStdioOptions> = {}): LegacyStdioOptions {
  return {
    command: process.execPath,
    args: [SCRIPTED, JSON.stringify(script)],
    clientInfo,
    closeGraceMs: 300,
    ...more,
  };
}

/** A client that is closed when the test ends. */
export async function connect(options: LegacyStdioOptions): Promise<LegacyStdioClient> {
  const client = await LegacyStdioClient.connect(options);
  onTestFinished(() => client.close());
  return client;
}

/** Options that start a server from npm. */
export function published(name: string, args: readonly string[] = [], env: JsonObject = {}): LegacyStdioOptions {
  const manifestPath = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`);
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
  const bin = isJsonObject(manifest) && isJsonObject(manifest["bin"]) ? Object.values(manifest["bin"])[0] : undefined;
  const main = join(dirname(manifestPath), String(bin));
  return { command: process.execPath, args: [main, ...args], clientInfo, ...env };
}

/** The processes of this group that still run; those that ended and wait to be collected don't count. */
export function running(group: number): number[] {
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , ofGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(ofGroup) === group && state !== "Z") found.push(Number(name));
    } catch {
      // It ended while the folder was read.
    }
  }
  return found;
}

/** The outcome of a call, as what callers decide by. */
export async function verdict(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "resolved",
    (error: unknown) =>
      error instanceof Error && "code" in error && "delivery" in error
        ? { code: error.code, delivery: error.delivery }
        : { reason: error },
  );
}

/** The error that a call rejects with. */
export async function failure(call: Promise<unknown>): Promise<Error & { readonly details: JsonObject }> {
  const error: unknown = await call.then(
    () => new Error("it resolved"),
    (reason: unknown) => reason,
  );
  if (error instanceof Error && "details" in error && isJsonObject(error.details)) {
    return Object.assign(error, { details: error.details });
  }
  throw new Error("not an error of the package", { cause: error });
}

/** Handles that are open, by kind, once those that are being closed are gone. */
export async function openHandles(): Promise<Record<string, number>> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    // Those of the test runner come and go.
    if (kind === "Immediate" || kind === "Timeout" || kind === "CloseReq" || kind.startsWith("FS")) continue;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
