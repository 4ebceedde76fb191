import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import {
  EMPTY_CONTRACT,
  type JsonObject,
  mirrorArguments,
  type MirroredParameter,
  readToolContract,
  type ToolContract,
} from "../../../src/protocol/index.js";
import { captureError } from "./capture-error.js";

const propertyName = fc.oneof(
  fc.constantFrom(
    "properties",
    "items",
    "default",
    "$defs",
    "__proto__",
    "constructor",
    "x-mcp-header",
    "",
    "a.b",
    "a/b",
  ),
  fc.string(),
);
const annotated: JsonObject = { type: "string", "x-mcp-header": "Region" };
const valid = (...parameters: MirroredParameter[]): unknown => ({ kind: "valid", contract: { parameters } });
const invalidAt = (path: string): unknown => ({ kind: "invalid", path, reason: expect.any(String) });

/** Each keyword whose value holds schemas, with a schema in each of the places where it can. 2020-12 and draft-07. */
const SCHEMA_KEYWORDS: readonly (readonly [keyword: string, value: unknown, path: string])[] = [
  ["additionalItems", annotated, ""],
  ["additionalProperties", annotated, ""],
  ["allOf", [true, annotated], "/1"],
  ["anyOf", [annotated], "/0"],
  ["contains", annotated, ""],
  ["contentSchema", annotated, ""],
  ["else", annotated, ""],
  ["if", annotated, ""],
  ["items", annotated, ""],
  ["items", [{}, {}, annotated], "/2"],
  ["not", annotated, ""],
  ["oneOf", [annotated], "/0"],
  ["prefixItems", [annotated], "/0"],
  ["propertyNames", annotated, ""],
  ["then", annotated, ""],
  ["unevaluatedItems", annotated, ""],
  ["unevaluatedProperties", annotated, ""],
  ["$defs", { a: true, b: annotated }, "/b"],
  ["definitions", { a: annotated }, "/a"],
  ["definitions", { "": annotated }, "/"],
  ["dependencies", { a: ["b"], c: annotated }, "/c"],
  ["dependentSchemas", { a: annotated }, "/a"],
  ["patternProperties", { "^a": annotated }, "/^a"],
];

const DATA: readonly (readonly [keyword: string, value: unknown])[] = [
  ["default", annotated],
  ["default", { properties: { a: annotated } }],
  ["const", annotated],
  ["enum", [annotated]],
  ["examples", [annotated, { items: annotated }]],
  ["required", ["x-mcp-header"]],
  ["dependentRequired", { a: ["x-mcp-header"] }],
  ["x-vendor", annotated],
  ["X-MCP-Header", "Region"],
  ["extends", annotated],
  ["properties", [annotated]],
  ["$comment", annotated],
];

const inProperties = (schema: JsonObject): JsonObject => ({ properties: { n: schema } });

function nest(innermost: JsonObject, depth: number, wrap: (schema: JsonObject) => JsonObject): JsonObject {
  let schema = innermost;
  for (let level = 0; level < depth; level += 1) schema = wrap(schema);
  return schema;
}

describe("readToolContract", () => {
  it("W-21: reads the specification's example", () => {
    const schema = {
      type: "object",
      properties: {
        region: { type: "string", description: "The region to execute the query in", "x-mcp-header": "Region" },
        query: { type: "string", description: "The SQL query to execute" },
      },
      required: ["region", "query"],
    };
    expect(readToolContract(schema)).toStrictEqual(valid({ header: "Mcp-Param-Region", path: ["region"] }));
  });

  it.each([{}, { type: "object" }, { properties: {} }, { properties: null }, { properties: { a: true, b: null } }])(
    "W-21: %j mirrors nothing",
    (schema) => {
      const verdict = readToolContract(schema);
      expect(verdict.kind === "valid" && verdict.contract).toBe(EMPTY_CONTRACT);
    },
  );

  it.each(["string", "integer", "boolean"])("W-21: a property of type %s is mirrored", (type) => {
    const schema = { properties: { a: { type, "x-mcp-header": "A" } } };
    expect(readToolContract(schema)).toStrictEqual(valid({ header: "Mcp-Param-A", path: ["a"] }));
  });

  it.each([
    "number",
    "object",
    "array",
    "null",
    "String",
    "",
    undefined,
    null,
    ["string"],
    ["string", "null"],
    ["integer", "string"],
    { type: "string" },
  ])("W-21: a property of type %j is not", (type) => {
    expect(readToolContract({ properties: { a: { type, "x-mcp-header": "A" } } })).toEqual(invalidAt("/properties/a"));
  });

  it.each(["A", "0", "a-b_c.d", "!#$%&'*+-.^_`|~", "x".repeat(1000)])("W-21: %j is a name", (name) => {
    const schema = { properties: { a: { type: "string", "x-mcp-header": name } } };
    expect(readToolContract(schema)).toStrictEqual(valid({ header: `Mcp-Param-${name}`, path: ["a"] }));
  });

  it.each([
    "",
    " ",
    "a b",
    " a",
    "a ",
    "a:",
    "a/b",
    'a"',
    "a(b)",
    "a,b",
    "a;b",
    "a=b",
    "a@b",
    "[a]",
    "{a}",
    "a\\b",
    "a?",
    "<a>",
    "é",
    "a\t",
    "a\n",
    "a\r\nX-Evil: 1",
    "\0",
    "\u007f",
    null,
    true,
    0,
    7,
    {},
    ["A"],
  ])("W-21: %j is none", (name) => {
    const schema = { properties: { a: { type: "string", "x-mcp-header": name } } };
    expect(readToolContract(schema)).toEqual(invalidAt("/properties/a"));
  });

  it.each([
    ["the same", "Region", "Region"],
    ["in another case", "Region", "rEGION"],
  ])("W-21: a name used twice is refused, %s", (_, one, other) => {
    const schema = {
      properties: {
        a: { type: "string", "x-mcp-header": one },
        b: { type: "object", properties: { c: { type: "string", "x-mcp-header": other } } },
      },
    };
    expect(readToolContract(schema)).toEqual(invalidAt("/properties/b/properties/c"));
  });

  it("W-21: is refused on the root", () => {
    expect(readToolContract(annotated)).toEqual(invalidAt("/"));
    expect(readToolContract({ type: "object", "x-mcp-header": "" })).toEqual(invalidAt("/"));
  });

  it("W-21: follows nested properties, outer ones first, in the order of the schema", () => {
    const schema = {
      properties: {
        z: { type: "object", properties: { y: { properties: { x: { type: "integer", "x-mcp-header": "X" } } } } },
        b: { type: "string", "x-mcp-header": "B" },
        a: { type: "boolean", "x-mcp-header": "A" },
        "": { properties: { "": { type: "string", "x-mcp-header": "Empty" } } },
      },
    };
    expect(readToolContract(schema)).toStrictEqual(
      valid(
        { header: "Mcp-Param-B", path: ["b"] },
        { header: "Mcp-Param-A", path: ["a"] },
        { header: "Mcp-Param-Empty", path: ["", ""] },
        { header: "Mcp-Param-X", path: ["z", "y", "x"] },
      ),
    );
  });

  it.each(SCHEMA_KEYWORDS)("W-21: an annotation inside %s is refused", (keyword, value, path) => {
    expect(readToolContract({ [keyword]: value })).toEqual(invalidAt(`/${keyword}${path}`));
    const below = { properties: { a: { [keyword]: value } } };
    expect(readToolContract(below)).toEqual(invalidAt(`/properties/a/${keyword}${path}`));
  });

  it.each(SCHEMA_KEYWORDS)("W-21: properties inside %s do not make it reachable", (keyword, value, path) => {
    const json = JSON.stringify({ [keyword]: value }).replace(
      JSON.stringify(annotated),
      JSON.stringify({ properties: { p: annotated } }),
    );
    const schema: JsonObject = JSON.parse(json);
    expect(readToolContract(schema)).toEqual(invalidAt(`/${keyword}${path}/properties/p`));
  });

  it.each(DATA)("W-21: %s is data, not schema: %j", (keyword, value) => {
    const schema = { [keyword]: value, properties: { a: { type: "string", [keyword]: value } } };
    expect(readToolContract(schema)).toStrictEqual(valid());
  });

  it.each(["properties", "x-mcp-header", "type", ...[...SCHEMA_KEYWORDS, ...DATA].map(([keyword]) => keyword)])(
    "W-21: a property called %s is a property",
    (name) => {
      const schema = { properties: { [name]: annotated } };
      expect(readToolContract(schema)).toStrictEqual(valid({ header: "Mcp-Param-Region", path: [name] }));
    },
  );

  it("W-21: a member of a map of schemas is a name too", () => {
    expect(readToolContract({ $defs: { "x-mcp-header": { type: "string" } } })).toStrictEqual(valid());
    expect(readToolContract({ properties: { "x-mcp-header": { type: "string" } } })).toStrictEqual(valid());
    expect(readToolContract({ $defs: { default: annotated } })).toEqual(invalidAt("/$defs/default"));
  });

  it("W-21: names of the prototype are names", () => {
    const schema: JsonObject = JSON.parse(
      '{"properties":{"__proto__":{"type":"string","x-mcp-header":"P"},"constructor":{"type":"string","x-mcp-header":"C"}}}',
    );
    expect(readToolContract(schema)).toStrictEqual(
      valid({ header: "Mcp-Param-P", path: ["__proto__"] }, { header: "Mcp-Param-C", path: ["constructor"] }),
    );
  });

  it("W-22: names the place unmistakably", () => {
    const bad = { type: "number", "x-mcp-header": "A" };
    expect(readToolContract({ properties: { "a/b~c": bad } })).toEqual(invalidAt("/properties/a~1b~0c"));
    expect(readToolContract({ $defs: { "a/b": bad } })).toEqual(invalidAt("/$defs/a~1b"));
  });

  it("W-21: goes 64 properties deep, and refuses what is deeper", () => {
    const path = Array.from({ length: 64 }, () => "n");
    expect(readToolContract(nest(annotated, 64, inProperties))).toStrictEqual(
      valid({ header: "Mcp-Param-Region", path }),
    );
    expect(readToolContract(nest(annotated, 65, inProperties))).toEqual(invalidAt("/properties/n".repeat(65)));
  });

  it.each([
    ["properties", inProperties],
    ["allOf", (schema: JsonObject) => ({ allOf: [schema] })],
    ["items", (schema: JsonObject) => ({ items: schema })],
    ["$defs", (schema: JsonObject) => ({ $defs: { n: schema } })],
  ])("W-21: 100,000 levels of %s cost neither the stack nor the square of their number", (_, wrap) => {
    expect(readToolContract(nest({ type: "string" }, 100_000, wrap))).toStrictEqual(valid());
    expect(readToolContract(nest(annotated, 100_000, wrap)).kind).toBe("invalid");
  });

  it("W-21: finds every annotation of a tree of properties and nothing else", () => {
    fc.assert(
      fc.property(treeOfProperties, ({ schema, paths }) => {
        const verdict = readToolContract(schema);
        if (verdict.kind === "invalid") throw new Error(verdict.reason);
        const found = verdict.contract.parameters.map(({ header, path }) => [header, path]);
        expect(new Map(JSON.parse(JSON.stringify(found)))).toEqual(paths);
      }),
      { seed: 21, numRuns: 300 },
    );
  });
});

const at = (...path: string[]): ToolContract => ({ parameters: [{ header: "Mcp-Param-A", path }] });

describe("mirrorArguments", () => {
  const region = at("region");

  it.each([
    ["us-west1", "us-west1"],
    ["", ""],
    [" padded ", " padded "],
    ["Hello, 世界", "Hello, 世界"],
    ["null", "null"],
    [true, "true"],
    [false, "false"],
    [0, "0"],
    [-0, "0"],
    [42, "42"],
    [-7, "-7"],
    [42.0, "42"],
    [2 ** 53 - 1, "9007199254740991"],
    [-(2 ** 53) + 1, "-9007199254740991"],
  ])("W-20: %j is mirrored by its own value", (value, text) => {
    expect(mirrorArguments(region, { region: value })).toStrictEqual([{ header: "Mcp-Param-A", value: text }]);
  });

  it.each([
    ["null", { region: null }],
    ["undefined", { region: undefined }],
    ["absent", { other: "x" }],
    ["without arguments", {}],
    ["null as arguments", null],
    ["no arguments", undefined],
    ["a list as arguments", ["region"]],
    ["text as arguments", "region"],
  ])("W-20: no header for %s", (_, args) => {
    expect(mirrorArguments(region, args)).toStrictEqual([]);
  });

  it.each([
    [{}],
    [{ a: 1 }],
    [[]],
    [["us-west1"]],
    [0.5],
    [-1.5],
    [2 ** 53],
    [-(2 ** 53)],
    [1e21],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1n],
  ])("W-20: %s can't be mirrored and is not sent", (value) => {
    const contract: ToolContract = {
      parameters: [
        { header: "Mcp-Param-Fine", path: ["fine"] },
        { header: "Mcp-Param-A", path: ["outer", "a"] },
      ],
    };
    const error = captureError(() => mirrorArguments(contract, { fine: "x", outer: { a: value } }));
    expect(isRemoteConnectorError(error, "invalid_argument")).toBe(true);
    expect(error).toMatchObject({ delivery: "not_sent", details: { argument: "outer.a" } });
  });

  it("W-20: an integer that JSON.parse had to round is refused", () => {
    const error = captureError(() => mirrorArguments(region, JSON.parse('{"region":9007199254740993}')));
    expect(error).toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
  });

  it.each([
    ["an absent parent", {}],
    ["a parent that is null", { a: null }],
    ["a grandparent that is null", { a: { b: null } }],
    ["a list on the way", { a: [{ b: { c: "x" } }] }],
    ["a list with that very member", { a: { b: Object.assign(["x"], { c: "x" }) } }],
    ["text on the way", { a: "b" }],
    ["text that has such a member", { a: { b: "text" } }],
    ["a number on the way", { a: { b: 1 } }],
  ])("W-23: nothing is there behind %s", (_, args) => {
    expect(mirrorArguments(at("a", "b", "c"), args)).toStrictEqual([]);
    expect(mirrorArguments(at("a", "b", "length"), args)).toStrictEqual([]);
  });

  it.each(["constructor", "toString", "hasOwnProperty", "__proto__", "valueOf"])(
    "W-23: the prototype's %s is no argument",
    (name) => {
      expect(mirrorArguments(at(name), {})).toStrictEqual([]);
      expect(mirrorArguments(at(name, "name"), {})).toStrictEqual([]);
      const own: unknown = JSON.parse(`{${JSON.stringify(name)}:{"name":"mine"}}`);
      expect(mirrorArguments(at(name, "name"), own)).toStrictEqual([{ header: "Mcp-Param-A", value: "mine" }]);
    },
  );

  it("W-23: what a __proto__ of JSON holds is at that path alone", () => {
    const args: unknown = JSON.parse('{"__proto__":{"region":"evil"}}');
    expect(mirrorArguments(region, args)).toStrictEqual([]);
    const inherited: unknown = Object.create({ region: "inherited" });
    expect(mirrorArguments(region, inherited)).toStrictEqual([]);
    const bare: unknown = Object.assign(Object.create(null), { region: "own" });
    expect(mirrorArguments(region, bare)).toStrictEqual([{ header: "Mcp-Param-A", value: "own" }]);
  });

  it("W-23: a name with dots is one step", () => {
    expect(mirrorArguments(at("a.b"), { a: { b: "no" } })).toStrictEqual([]);
    expect(mirrorArguments(at("a.b"), { "a.b": "yes" })).toStrictEqual([{ header: "Mcp-Param-A", value: "yes" }]);
  });

  it("W-20: mirrors nothing under an empty contract", () => {
    expect(mirrorArguments(EMPTY_CONTRACT, { region: {} })).toStrictEqual([]);
  });

  it("W-23: reads each value at its own path", () => {
    fc.assert(
      fc.property(treeOfProperties, ({ schema, args, values }) => {
        const verdict = readToolContract(schema);
        if (verdict.kind === "invalid") throw new Error(verdict.reason);
        const headers = mirrorArguments(verdict.contract, JSON.parse(JSON.stringify(args)));
        expect(new Map(headers.map(({ header, value }) => [header, value]))).toEqual(values);
      }),
      { seed: 23, numRuns: 300 },
    );
  });
});

type Leaf = { readonly kind: "leaf"; readonly value: string | number | boolean | null };
type Branch = { readonly kind: "branch"; readonly children: readonly (readonly [string, Leaf | Branch])[] };

/** A tree of properties with an annotation on every leaf, arguments that fit it, and what should come of them. */
const treeOfProperties = fc
  .letrec<{ node: Leaf | Branch; branch: Branch; leaf: Leaf }>((tie) => ({
    node: fc.oneof({ depthSize: "small", withCrossShrink: true }, tie("leaf"), tie("branch")),
    branch: fc.record({
      kind: fc.constant("branch" as const),
      children: fc.uniqueArray(fc.tuple(propertyName, tie("node")), { selector: ([name]) => name, maxLength: 4 }),
    }),
    leaf: fc.record({
      kind: fc.constant("leaf" as const),
      value: fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger(), fc.boolean(), fc.constant(null)),
    }),
  }))
  .branch.map((root) => {
    const paths = new Map<string, readonly string[]>();
    const values = new Map<string, string>();
    const build = (node: Leaf | Branch, path: readonly string[]): { schema: unknown; args: unknown } => {
      if (node.kind === "leaf") {
        const name = `N${String(paths.size)}`;
        paths.set(`Mcp-Param-${name}`, path);
        if (node.value !== null) values.set(`Mcp-Param-${name}`, String(node.value));
        return { schema: { type: "string", "x-mcp-header": name }, args: node.value };
      }
      const built = node.children.map(([name, child]) => ({ name, ...build(child, [...path, name]) }));
      const collect = (pick: "schema" | "args"): unknown =>
        JSON.parse(`{${built.map((each) => `${JSON.stringify(each.name)}:${JSON.stringify(each[pick])}`).join(",")}}`);
      return { schema: { type: "object", properties: collect("schema") }, args: collect("args") };
    };
    const { schema, args } = build(root, []);
    const parsed: JsonObject = JSON.parse(JSON.stringify(schema));
    return { schema: parsed, args, paths, values };
  });
