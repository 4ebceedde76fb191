import { createHash } from "node:crypto";
import { isRemoteConnectorError } from "../../errors.js";
import type { Credential, CredentialKey } from "../ports.js";
import { credentialFault, type VaultKey } from "./vault-key.js";
import type { DamagedCredential } from "./vault-rows.js";

const SUFFIX = ".entry";

/** The name of an entry's file: says nothing that can be read, and is fine for systems that don't tell `a` from `A`. */
export function entryFileName({ resource, name }: CredentialKey): string {
  return `${entryFilePrefix(resource)}${hashOf(name)}${SUFFIX}`;
}

/** How the names of all entries of a resource begin. */
export function entryFilePrefix(resource: string): string {
  return `${hashOf(resource)}-`;
}

export function isEntryFile(fileName: string): boolean {
  return fileName.endsWith(SUFFIX);
}

/** The text of an entry's file: a line that says which entry it is, and an envelope that is bound to it. */
export function writeEntry({ resource, name, generation, text, updatedAt }: Credential, key: VaultKey): string {
  const envelope = key.seal(JSON.stringify({ generation, updatedAt, text }), { resource, name });
  return `${JSON.stringify([resource, name])}\n${envelope}\n`;
}

/**
 * The entry of a file. `expected` is what was asked for; left out: the entry that the file says it is, if it has the name of its file.
 * Throws `store_unavailable` when the key is closed.
 */
export function readEntry(
  file: string,
  fileName: string,
  key: VaultKey,
  expected?: CredentialKey,
): Credential | DamagedCredential {
  const [head = "", envelope = "", rest, ...more] = file.split("\n");
  const place = parsePlace(head);
  const isWhole = rest === "" && more.length === 0 && place !== undefined && entryFileName(place) === fileName;
  if (!isWhole) return damaged(expected ?? place ?? { resource: "", name: fileName });
  try {
    return { ...place, ...parseContent(key.open(envelope, place), place) };
  } catch (error) {
    if (isRemoteConnectorError(error, "oauth_invalid")) return { kind: "damaged", fault: error };
    throw error;
  }
}

function parsePlace(line: string): CredentialKey | undefined {
  const value = parseJson(line);
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [resource, name]: unknown[] = value;
  if (typeof resource !== "string" || typeof name !== "string") return undefined;
  return JSON.stringify([resource, name]) === line ? { resource, name } : undefined;
}

/** It was sealed by this package, and may still be of another one's making who has the key. */
function parseContent(text: string, place: CredentialKey): Omit<Credential, keyof CredentialKey> {
  const value = Object(parseJson(text));
  const content = {
    generation: get(value, "generation"),
    updatedAt: get(value, "updatedAt"),
    text: get(value, "text"),
  };
  const { generation, updatedAt, text: own } = content;
  if (isInteger(generation) && isInteger(updatedAt) && typeof own === "string")
    return { generation, updatedAt, text: own };
  throw credentialFault(place, "is no entry of a file");
}

function damaged(place: CredentialKey): DamagedCredential {
  return { kind: "damaged", fault: credentialFault(place, "is damaged, or lies in another one's file") };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function get(value: object, name: string): unknown {
  return Reflect.get(value, name);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Of JSON, which has a spelling for half of a surrogate pair. */
function hashOf(text: string): string {
  return createHash("sha256").update(JSON.stringify(text)).digest("hex").slice(0, 32);
}
