import { isJsonObject } from "../json-rpc.js";

/** The dialects that are spoken here. */
export type Dialect = "2020-12" | "draft-07";

/** What a keyword's value must be. The names with `schema` hold schemas; all else is data. */
export type KeywordShape =
  | "any"
  | "boolean"
  | "count"
  | "items"
  | "list"
  | "names"
  | "namesMap"
  | "dependencies"
  | "number"
  | "positive"
  | "schema"
  | "schemaList"
  | "schemaMap"
  | "text"
  | "type";

const COMMON: readonly (readonly [string, KeywordShape])[] = [
  ["$comment", "text"],
  ["$id", "text"],
  ["$ref", "text"],
  ["$schema", "text"],
  ["additionalProperties", "schema"],
  ["allOf", "schemaList"],
  ["anyOf", "schemaList"],
  ["const", "any"],
  ["contains", "schema"],
  ["definitions", "schemaMap"],
  ["dependencies", "dependencies"],
  ["else", "schema"],
  ["enum", "list"],
  ["exclusiveMaximum", "number"],
  ["exclusiveMinimum", "number"],
  ["if", "schema"],
  ["maxItems", "count"],
  ["maxLength", "count"],
  ["maxProperties", "count"],
  ["maximum", "number"],
  ["minItems", "count"],
  ["minLength", "count"],
  ["minProperties", "count"],
  ["minimum", "number"],
  ["multipleOf", "positive"],
  ["not", "schema"],
  ["oneOf", "schemaList"],
  ["pattern", "text"],
  ["patternProperties", "schemaMap"],
  ["properties", "schemaMap"],
  ["propertyNames", "schema"],
  ["required", "names"],
  ["then", "schema"],
  ["type", "type"],
  ["uniqueItems", "boolean"],
];

const SHAPES: Readonly<Record<Dialect, ReadonlyMap<string, KeywordShape>>> = {
  "2020-12": new Map([
    ...COMMON,
    ["$anchor", "text"],
    ["$defs", "schemaMap"],
    ["$dynamicAnchor", "text"],
    ["$dynamicRef", "text"],
    ["dependentRequired", "namesMap"],
    ["dependentSchemas", "schemaMap"],
    ["items", "schema"],
    ["maxContains", "count"],
    ["minContains", "count"],
    ["prefixItems", "schemaList"],
    ["unevaluatedItems", "schema"],
    ["unevaluatedProperties", "schema"],
  ]),
  "draft-07": new Map([...COMMON, ["additionalItems", "schema"], ["items", "items"]]),
};

const TYPES: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);

/** The shape of a keyword in a dialect; `undefined` for one that the dialect gives no meaning that asserts anything. */
export function keywordShape(dialect: Dialect, keyword: string): KeywordShape | undefined {
  return SHAPES[dialect].get(keyword);
}

/** The dialect that a `$schema` names, with or without its empty fragment. */
export function dialectOf(uri: string): Dialect | undefined {
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(uri)) return "2020-12";
  return /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(uri) ? "draft-07" : undefined;
}

/** A schema is an object or a boolean. */
export function isSchema(value: unknown): value is boolean | Readonly<Record<string, unknown>> {
  return typeof value === "boolean" || isJsonObject(value);
}

/** Why a keyword's value is not what its dialect asks for; `undefined` when it is. Schemas inside it are not looked at. */
export function shapeProblem(shape: KeywordShape, value: unknown): string | undefined {
  switch (shape) {
    case "any":
      return undefined;
    case "boolean":
      return typeof value === "boolean" ? undefined : "not a boolean";
    case "text":
      return typeof value === "string" ? undefined : "not a string";
    case "number":
      return typeof value === "number" ? undefined : "not a number";
    case "positive":
      return typeof value === "number" && value > 0 ? undefined : "not a number above zero";
    case "count":
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : "not a whole number of at least zero";
    case "list":
      return Array.isArray(value) ? undefined : "not a list";
    case "names":
      return isNames(value) ? undefined : "not a list of different names";
    case "type":
      return isTypes(value) ? undefined : "not a type";
    case "schema":
      return isSchema(value) ? undefined : "not a schema";
    case "schemaList":
      return isSchemaList(value) ? undefined : "not a list of schemas";
    case "items":
      return isSchema(value) || isSchemaList(value) || isEmptyList(value) ? undefined : "neither a schema nor a list";
    case "schemaMap":
      return isMapOf(value, isSchema) ? undefined : "not a map of schemas";
    case "namesMap":
      return isMapOf(value, isNames) ? undefined : "not a map of lists of names";
    case "dependencies":
      return isMapOf(value, (each) => isSchema(each) || isNames(each)) ? undefined : "not a map of schemas or names";
  }
}

function isNames(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length
  );
}

function isTypes(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.has(value);
  return value.length > 0 && value.every((type) => TYPES.has(type)) && new Set(value).size === value.length;
}

function isSchemaList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isMapOf(value: unknown, isEntry: (entry: unknown) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every(isEntry);
}
