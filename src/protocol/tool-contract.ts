import { RemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";

/** One argument that is mirrored into a header. */
export interface MirroredParameter {
  /** The whole header name, such as `Mcp-Param-Region`. */
  readonly header: string;
  /** The chain of `properties` keys that leads to the argument. */
  readonly path: readonly string[];
}

/** Which arguments of a tool are mirrored into headers. Immutable: a call keeps the one it began with. */
export interface ToolContract {
  readonly parameters: readonly MirroredParameter[];
}

/** What reading a tool's annotations gives. */
export type ToolContractVerdict =
  | { readonly kind: "valid"; readonly contract: ToolContract }
  | { readonly kind: "invalid"; readonly path: string; readonly reason: string };

/** A header that a call carries, before its value is encoded. */
export interface MirroredHeader {
  readonly header: string;
  readonly value: string;
}

/** The contract of a tool that mirrors nothing. */
export const EMPTY_CONTRACT: ToolContract = { parameters: [] };

const ANNOTATION = "x-mcp-header";
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Keywords of 2020-12 and draft-07 whose value is a schema, a list of schemas, or a map of schemas. */
const SCHEMA_KEYWORDS = [
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "oneOf",
  "prefixItems",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;
const SCHEMA_MAP_KEYWORDS = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"] as const;

/** Deeper annotations are refused: the paths of a hostile schema would grow with the square of its size. */
const MAX_DEPTH = 64;
const UNREACHABLE = "not reachable through properties alone";
const TOO_DEEP = "nested too deep";

/** A schema that waits to be looked at. `path` is a reason where an annotation could not be honoured. */
interface Place {
  readonly schema: JsonObject;
  readonly at: string;
  readonly path: readonly string[] | typeof UNREACHABLE | typeof TOO_DEEP;
}

/**
 * Reads the `x-mcp-header` annotations of a tool's input schema. Pure and total; linear in the schema's size. Parameters
 * come in the schema's order, outer ones first; `path` of an invalid one is a JSON pointer, or `/` for the root.
 *
 * Valid are: an HTTP token, unique without case within the tool, on a property of type `string`, `integer` or `boolean`
 * that is reached from the root through at most 64 `properties` and nothing else. An annotation inside any other schema-valued keyword
 * is invalid; data such as `default`, `const`, `enum` and `examples` is not searched.
 *
 * Source: 2026-07-28, Streamable HTTP, Schema Extension.
 */
export function readToolContract(inputSchema: JsonObject): ToolContractVerdict {
  const parameters: MirroredParameter[] = [];
  const taken = new Set<string>();
  const places: Place[] = [{ schema: inputSchema, at: "", path: [] }];
  // Grows while it is walked.
  for (const place of places) {
    const annotation = place.schema[ANNOTATION];
    if (annotation !== undefined) {
      const read = readAnnotation(annotation, place, taken);
      if (typeof read === "string") return { kind: "invalid", path: place.at === "" ? "/" : place.at, reason: read };
      taken.add(read.header.toLowerCase());
      parameters.push(read);
    }
    addSubschemas(places, place);
  }
  return { kind: "valid", contract: parameters.length === 0 ? EMPTY_CONTRACT : { parameters } };
}

/** The parameter that an annotation describes, or why it can't be honoured. */
function readAnnotation(annotation: unknown, place: Place, taken: ReadonlySet<string>): MirroredParameter | string {
  if (typeof annotation !== "string") return "not a string";
  if (annotation === "") return "empty";
  if (!HTTP_TOKEN.test(annotation)) return "not an HTTP token";
  if (typeof place.path === "string") return place.path;
  if (place.path.length === 0) return "on the root of the schema";
  const type = place.schema["type"];
  if (type !== "string" && type !== "integer" && type !== "boolean") return "on a type that can't be mirrored";
  const header = `Mcp-Param-${annotation}`;
  return taken.has(header.toLowerCase()) ? "used twice" : { header, path: place.path };
}

function addSubschemas(places: Place[], { schema, at, path }: Place): void {
  const properties = schema["properties"];
  if (isJsonObject(properties)) {
    for (const [name, value] of Object.entries(properties)) {
      if (!isJsonObject(value)) continue;
      places.push({ schema: value, at: `${at}/properties/${pointerToken(name)}`, path: extend(path, name) });
    }
  }
  for (const keyword of SCHEMA_KEYWORDS) {
    if (Object.hasOwn(schema, keyword)) addUnreachable(places, schema[keyword], `${at}/${keyword}`);
  }
  for (const keyword of SCHEMA_MAP_KEYWORDS) {
    const map = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (!isJsonObject(map)) continue;
    for (const [name, value] of Object.entries(map))
      addUnreachable(places, value, `${at}/${keyword}/${pointerToken(name)}`);
  }
}

function extend(path: Place["path"], name: string): Place["path"] {
  if (typeof path === "string") return path;
  return path.length < MAX_DEPTH ? [...path, name] : TOO_DEEP;
}

/** A member's name as it stands in a JSON pointer (RFC 6901). */
function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function addUnreachable(places: Place[], value: unknown, at: string): void {
  if (Array.isArray(value)) {
    value.forEach((entry: unknown, index) => {
      if (isJsonObject(entry)) places.push({ schema: entry, at: `${at}/${String(index)}`, path: UNREACHABLE });
    });
  } else if (isJsonObject(value)) {
    places.push({ schema: value, at, path: UNREACHABLE });
  }
}

/**
 * The headers that mirror a call's arguments. Values are not yet encoded.
 *
 * An argument that is absent or `null` has no header. A string, boolean or safe integer is mirrored by its own value,
 * whatever the schema says, since the server compares it with the body. Anything else at an annotated path throws
 * `invalid_argument` (`not_sent`). Only own properties of objects are read.
 *
 * Source: 2026-07-28, Streamable HTTP, Value Encoding and Client Behavior.
 */
export function mirrorArguments(contract: ToolContract, args: unknown): MirroredHeader[] {
  const headers: MirroredHeader[] = [];
  for (const { header, path } of contract.parameters) {
    const value = valueAt(args, path);
    if (value === undefined || value === null) continue;
    if (isMirrored(value)) {
      headers.push({ header, value: String(value) });
      continue;
    }
    const argument = path.join(".");
    throw new RemoteConnectorError("invalid_argument", {
      message: `The argument ${JSON.stringify(argument)} is mirrored into a header and must be a string, a boolean or a safe integer.`,
      details: { argument, reason: "not a string, boolean or safe integer" },
    });
  }
  return headers;
}

function isMirrored(value: unknown): value is string | boolean | number {
  return typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
