import { isJsonObject, type JsonObject, parseJson, type ToolContract, ToolListCheck } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import { definitionsDigest, type NativeTool, type NativeTools, nativeToolsIn } from "./native-tools.js";

/** What is kept of a catalog beside its definitions. */
export interface CatalogFacts {
  readonly connectorKey: string;
  readonly scope: string;
  /** Digest of the settings that it was read with. It is one over the registration's id, too. */
  readonly settingsDigest: string;
  /** Of its definitions: the same for lists whose tools their server wrote alike. */
  readonly digest: string;
  /** When it was read, in epoch milliseconds. */
  readonly fetchedAt: number;
  /** How long its server said that it holds, in milliseconds. */
  readonly ttlMs: number | undefined;
}

/** A catalog that was kept, or why it is none. */
export type KeptCatalog =
  | ({ readonly kind: "catalog"; readonly facts: CatalogFacts } & NativeTools)
  | { readonly kind: "refused"; readonly reason: "unreadable" | "of_another_format" | "foreign" | "altered" };

const FORMAT_VERSION = 1;

/** The text in which a catalog is kept. Definitions are in it as their server wrote them. Pure. */
export function writeCatalog(facts: CatalogFacts, native: readonly NativeTool[]): string {
  const { connectorKey, scope, settingsDigest, digest, fetchedAt, ttlMs } = facts;
  return JSON.stringify({
    formatVersion: FORMAT_VERSION,
    connectorKey,
    scope,
    settingsDigest,
    digest,
    fetchedAt,
    ttlMs,
    honoursHeaders: native.some(({ contract }) => mirrors(contract)),
    definitions: native.map(({ definition }) => Buffer.from(definition).toString("utf8")),
  });
}

/**
 * Reads the text of a catalog. What is in it is checked as a list is that comes from a server. `settingsDigest`: that of the connector now;
 * `undefined` when nobody knows it. Pure.
 */
export function readCatalog(
  text: string,
  expected: { readonly connectorKey: string; readonly settingsDigest: string | undefined },
  checkSchema?: SchemaCheck,
): KeptCatalog {
  const value = parseJson(text);
  if (!isJsonObject(value)) return { kind: "refused", reason: "unreadable" };
  if (value["formatVersion"] !== FORMAT_VERSION) return { kind: "refused", reason: "of_another_format" };
  const facts = factsIn(value);
  const definitions = textsIn(value["definitions"]);
  if (facts === undefined || definitions === undefined) return { kind: "refused", reason: "unreadable" };
  const { connectorKey, settingsDigest } = expected;
  const isForeign = settingsDigest !== undefined && facts.settingsDigest !== settingsDigest;
  if (isForeign || facts.connectorKey !== connectorKey) return { kind: "refused", reason: "foreign" };
  if (definitionsDigest(definitions) !== facts.digest) return { kind: "refused", reason: "altered" };
  const tools = toolsIn(connectorKey, definitions, value["honoursHeaders"] === true, checkSchema);
  return { kind: "catalog", facts, ...tools };
}

function mirrors({ parameters }: ToolContract): boolean {
  return parameters.length > 0;
}

function factsIn(value: JsonObject): CatalogFacts | undefined {
  const { connectorKey, scope, settingsDigest, digest, fetchedAt, ttlMs } = value;
  if (typeof connectorKey !== "string" || typeof scope !== "string") return undefined;
  if (typeof settingsDigest !== "string" || typeof digest !== "string") return undefined;
  if (typeof fetchedAt !== "number" || (ttlMs !== undefined && typeof ttlMs !== "number")) return undefined;
  return { connectorKey, scope, settingsDigest, digest, fetchedAt, ttlMs };
}

function textsIn(value: unknown): readonly Uint8Array[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts: Uint8Array[] = [];
  for (const text of value) {
    if (typeof text !== "string") return undefined;
    texts.push(Buffer.from(text, "utf8"));
  }
  return texts;
}

function toolsIn(
  connectorKey: string,
  texts: readonly Uint8Array[],
  honoursHeaders: boolean,
  checkSchema: SchemaCheck | undefined,
): NativeTools {
  const definitions = new Map<string, Uint8Array>();
  const values = texts.map((text) => {
    const value = parseJson(Buffer.from(text).toString("utf8"));
    const name = isJsonObject(value) ? value["name"] : undefined;
    if (typeof name === "string") definitions.set(name, text);
    return value;
  });
  const check = new ToolListCheck({ honoursHeaders });
  const { tools } = check.page(values);
  const { contracts, duplicates, diagnostics } = check;
  return nativeToolsIn(connectorKey, { tools, contracts, duplicates, definitions, diagnostics }, checkSchema);
}
