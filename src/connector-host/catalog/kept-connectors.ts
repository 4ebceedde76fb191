import { z } from "zod";
import { type DocumentTx, parseDocument } from "../documents/index.js";
import { CAPABILITIES, type Capability } from "../registration/index.js";
import { type InstalledRelease, installedRelease, type ReleaseEntry } from "./catalog-entry.js";

const RELEASE = "release";
const SWITCH = "switch";

/** The releases inside are read by their own schema, each by itself: one that can't be read must not hide the other. */
const releaseSchema = z.strictObject({
  formatVersion: z.literal(1),
  current: z.unknown(),
  candidate: z.unknown().optional(),
  declaredDigest: z.string().optional(),
  capabilities: z.array(z.enum(CAPABILITIES)).readonly(),
  isLeaving: z.boolean(),
});

const switchSchema = z.strictObject({ formatVersion: z.literal(1), isOn: z.boolean() });

/** What is kept of the connector of a release. Its switch is kept by itself. */
export type KeptRelease = Pick<
  ReleaseEntry,
  "key" | "current" | "candidate" | "declaredDigest" | "capabilities" | "isLeaving"
>;

/** What a store has of connectors. */
export interface KeptConnectors {
  readonly releases: readonly KeptRelease[];
  /** Keys of connectors that are switched off, those of connectors included that are not there at the moment. */
  readonly off: ReadonlySet<string>;
}

/** Reads what is kept. A release that can't be read has none. A switch that can't be read is off. */
export async function readKept({ documents }: DocumentTx): Promise<KeptConnectors> {
  const releases: KeptRelease[] = [];
  for (const row of await documents.list(RELEASE)) releases.push(readRelease(row));
  const off = new Set<string>();
  for (const row of await documents.list(SWITCH)) {
    if (parseDocument(switchSchema, row)?.isOn !== true) off.add(row.key);
  }
  return { releases, off };
}

/** Keeps the connector of a release; `undefined` removes what is kept of the key. */
export async function writeRelease(
  { documents }: DocumentTx,
  key: string,
  entry: KeptRelease | undefined,
  now: number,
): Promise<void> {
  if (entry === undefined) {
    await documents.remove(RELEASE, key);
    return;
  }
  const { current, candidate, declaredDigest, capabilities, isLeaving } = entry;
  const members = {
    formatVersion: 1,
    current: current?.release ?? null,
    candidate: candidate?.release,
    declaredDigest,
    capabilities,
    isLeaving,
  };
  await documents.put({ kind: RELEASE, key, text: JSON.stringify(members), updatedAt: now });
}

/** Keeps a connector's switch. One that is on is what it is unasked, and is not kept. */
export async function writeSwitch({ documents }: DocumentTx, key: string, isOn: boolean, now: number): Promise<void> {
  if (isOn) await documents.remove(SWITCH, key);
  else await documents.put({ kind: SWITCH, key, text: JSON.stringify({ formatVersion: 1, isOn }), updatedAt: now });
}

function readRelease({ key, text }: { readonly key: string; readonly text: string }): KeptRelease {
  const kept = parseDocument(releaseSchema, { text });
  const capabilities: readonly Capability[] = kept?.capabilities ?? ["tools"];
  return {
    key,
    current: readInstalled(kept?.current, key),
    candidate: readInstalled(kept?.candidate, key),
    declaredDigest: kept?.declaredDigest,
    capabilities,
    isLeaving: kept?.isLeaving ?? false,
  };
}

function readInstalled(value: unknown, key: string): InstalledRelease | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    const installed = installedRelease(value);
    return installed.release.connectorId === key ? installed : undefined;
  } catch {
    // What is missing then is told as the connector's state.
    return undefined;
  }
}
