import { RemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";
import { mayHold, SCHEMA_KEYWORDS } from "./schema-places.js";

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

const PLAIN = { kind: "valid", contract: EMPTY_CONTRACT } as const;

const ANNOTATION = "x-mcp-header";
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Deeper annotations are refused: the paths of a hostile schema would grow with the square of its size. */
const MAX_DEPTH = 64;

/**
 * A schema that waits to be looked at. Only its step from the schema around it is kept: paths are made for the few that
 * are asked for one.
 */
interface Place {
  readonly schema: JsonObject;
  readonly parent: Place | undefined;
  readonly keyword: string;
  /** The member or index below the keyword, where it holds more than one schema. */
  readonly name: string | undefined;
}

/**
 * Reads the `x-mcp-header` annotations of a tool's input schema. Pure and total; linear in the schema's size.
 *
 * Valid are: an HTTP token, unique without case within the tool, on a property of type `string`, `integer` or `boolean`
 * that is reached from the root through at most 64 `properties` and nothing else. An annotation inside any other
 * schema-valued keyword is invalid; data such as `default`, `const`, `enum` and `examples` is not searched.
 *
 * Parameters come in the schema's order, outer ones first. The path of an invalid annotation is a JSON pointer, `/` for
 * the root. Source: 2026-07-28, Streamable HTTP, Schema Extension.
 */
export function readToolContract(inputSchema: JsonObject): ToolContractVerdict {
  if (!mayHold(inputSchema, ANNOTATION)) return PLAIN;
  const parameters: MirroredParameter[] = [];
  const taken = new Set<string>();
  const places: Place[] = [{ schema: inputSchema, parent: undefined, keyword: "", name: undefined }];
  // Grows while it is walked.
  for (const place of places) {
    const annotation = place.schema[ANNOTATION];
    if (annotation !== undefined) {
      const read = readAnnotation(annotation, place, taken);
      if (typeof read === "string") return { kind: "invalid", path: pointerTo(place), reason: read };
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
  if (place.parent === undefined) return "on the root of the schema";
  const path: string[] = [];
  for (let at: Place = place; at.parent !== undefined; at = at.parent) {
    if (at.keyword !== "properties" || at.name === undefined) return "not reachable through properties alone";
    if (path.length === MAX_DEPTH) return "nested too deep";
    path.push(at.name);
  }
  const type = place.schema["type"];
  if (type !== "string" && type !== "integer" && type !== "boolean") return "on a type that can't be mirrored";
  const header = `Mcp-Param-${annotation}`;
  return taken.has(header.toLowerCase()) ? "used twice" : { header, path: path.toReversed() };
}

function addSubschemas(places: Place[], parent: Place): void {
  for (const keyword of Object.keys(parent.schema)) {
    const holds = SCHEMA_KEYWORDS.get(keyword);
    if (holds === undefined) continue;
    const value = parent.schema[keyword];
    if (holds === "named") {
      if (!isJsonObject(value)) continue;
      for (const name of Object.keys(value)) addPlace(places, value[name], parent, keyword, name);
    } else if (Array.isArray(value)) {
      value.forEach((schema: unknown, index) => addPlace(places, schema, parent, keyword, String(index)));
    } else {
      addPlace(places, value, parent, keyword, undefined);
    }
  }
}

function addPlace(places: Place[], schema: unknown, parent: Place, keyword: string, name: string | undefined): void {
  if (isJsonObject(schema)) places.push({ schema, parent, keyword, name });
}

/** Where a place is, as a JSON pointer (RFC 6901). */
function pointerTo(place: Place): string {
  const steps: string[] = [];
  for (let at: Place = place; at.parent !== undefined; at = at.parent) {
    if (at.name !== undefined) steps.push(at.name.replaceAll("~", "~0").replaceAll("/", "~1"));
    steps.push(at.keyword);
  }
  return `/${steps.toReversed().join("/")}`;
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
