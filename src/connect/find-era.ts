import type { ModernClient } from "../modern-client/index.js";
import {
  type Diagnostic,
  isAuthorizationFailure,
  isLegacyRevision,
  isModernRevision,
  type LegacyRevision,
  type Notification,
} from "../protocol/index.js";
import type { ConnectConfig } from "./connect-options.js";
import { judgeFailure } from "./doubts-era.js";
import type { OpenLegacy } from "./era-factories.js";
import type { EraRecord } from "./era-memory.js";
import type { OpeningOperation } from "./opening-operation.js";
import { withCause } from "./with-cause.js";

/** The client of the era that the server is of. */
export type FoundEra =
  /** `isProven`: it answered a probe just now. */
  | { readonly era: "modern"; readonly client: ModernClient; readonly isProven: boolean }
  | ({ readonly era: "legacy"; readonly isOld: boolean } & OpenLegacy);

/** What the search for an era takes. */
export interface EraSearch {
  /** Fires when it must be over. */
  readonly signal: AbortSignal;
  /** Where notifications of a legacy server go. */
  readonly onNotification: (notification: Notification) => unknown;
  /** What it is for those who authorize its requests. */
  readonly opening: OpeningOperation;
}

/**
 * Finds the era of a server and opens the client for it: by what is remembered, else by a probe.
 *
 * Rejects with the first failure; a later one that belongs to it is its cause, unless it is that of authorizing. Whatever was opened for nothing is closed.
 * Source: 2026-07-28, Versioning, Backward Compatibility.
 */
export async function findEra(config: ConnectConfig, search: EraSearch): Promise<FoundEra> {
  const legacy = config.accepts.filter(isLegacyRevision);
  if (!config.accepts.some(isModernRevision)) return openLegacy(config, search, legacy);
  const record = legacy.length === 0 ? undefined : await recall(config, search.signal);
  if (record?.era === "modern") return { era: "modern", client: config.openModern(search.opening), isProven: false };
  const prefersLegacy = isLegacyRevision(config.accepts[0]);
  if (record?.era !== "legacy" && !prefersLegacy) return probe(config, search);
  try {
    const isOld = record !== undefined && config.wallNow() - record.decidedAt >= config.recheckLegacyAfterMs;
    const found = await openLegacy(config, search, legacy, isOld && !prefersLegacy);
    if (record === undefined) remember(config, "legacy");
    return found;
  } catch (error) {
    // The end of the search says nothing, whatever the caller's reason looks like.
    if (search.signal.aborted || !isRefusal(error, config)) throw error;
    remember(config, undefined);
    return probe(config, search);
  }
}

/** Asks the server with `server/discover` whether it is modern; `undefined` when it isn't, or when that can't be known. */
export async function probeModern(config: ConnectConfig, search: EraSearch): Promise<FoundEra | undefined> {
  const client = config.openModern(search.opening);
  try {
    await discover(client, config, search);
    remember(config, "modern");
    return { era: "modern", client, isProven: true };
  } catch {
    await client.close();
    return undefined;
  }
}

/** Asks the server with `server/discover`, and goes on as its answer says. */
export async function probe(config: ConnectConfig, search: EraSearch): Promise<FoundEra> {
  const client = config.openModern(search.opening);
  let failure: unknown;
  try {
    await discover(client, config, search);
    remember(config, "modern");
    return { era: "modern", client, isProven: true };
  } catch (error) {
    failure = error;
  }
  const verdict = judgeFailure(failure, config);
  await client.close();
  if (verdict.kind !== "initialize") throw failure;
  const accepted = config.accepts.filter(isLegacyRevision);
  const revisions = verdict.revision === undefined ? accepted : preferring(verdict.revision, accepted);
  if (revisions.length === 0) throw failure;
  try {
    const found = await openLegacy(config, search, revisions);
    remember(config, "legacy");
    return found;
  } catch (error) {
    throw search.signal.aborted || isAuthorizationFailure(error) ? error : withCause(failure, error);
  }
}

async function discover(client: ModernClient, { over }: ConnectConfig, search: EraSearch): Promise<void> {
  // Over stdio another attempt would be another process.
  const maxReadRetries = over === "stdio" ? 0 : undefined;
  // The signal is the deadline.
  await client.discover({ signal: search.signal, totalTimeoutMs: Infinity, maxReadRetries });
}

/** Writes the era down, or forgets it. */
export function remember(config: ConnectConfig, era: EraRecord["era"] | undefined): void {
  const { memory, memoryKey, wallNow } = config;
  if (memory === undefined) return;
  const failed = (): void => config.onDiagnostic(MEMORY_FAILED);
  try {
    const done = era === undefined ? memory.forget(memoryKey) : memory.write(memoryKey, { era, decidedAt: wallNow() });
    Promise.resolve(done).catch(failed);
  } catch {
    failed();
  }
}

/** Rejects with the signal's reason, however long the memory takes. */
async function recall(config: ConnectConfig, signal: AbortSignal): Promise<EraRecord | undefined> {
  try {
    return await unlessAborted(signal, config.memory?.read(config.memoryKey));
  } catch {
    if (signal.aborted) throw signal.reason;
    config.onDiagnostic(MEMORY_FAILED);
    return undefined;
  }
}

function unlessAborted<T>(signal: AbortSignal, value: T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    const listenNoMore = (): void => signal.removeEventListener("abort", onAbort);
    Promise.resolve(value).then(resolve, reject).finally(listenNoMore);
  });
}

async function openLegacy(
  { openLegacy: open }: ConnectConfig,
  { signal, onNotification, opening }: EraSearch,
  revisions: readonly LegacyRevision[],
  isOld = false,
): Promise<FoundEra> {
  return { era: "legacy", isOld, ...(await open({ revisions, signal, onNotification, opening })) };
}

/** Whether a failed handshake shows that the server is not of the era that was remembered. */
function isRefusal(error: unknown, config: ConnectConfig): boolean {
  const { kind } = judgeFailure(error, config);
  return kind === "initialize" || kind === "modern_refused" || kind === "no_revision";
}

function preferring(first: LegacyRevision, all: readonly LegacyRevision[]): readonly LegacyRevision[] {
  return [first, ...all.filter((one) => one !== first)];
}

const MEMORY_FAILED: Diagnostic = {
  kind: "handler_failed",
  message: "The memory of eras failed.",
  subject: "eraMemory",
};
