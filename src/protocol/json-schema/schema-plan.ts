import { isJsonObject, type JsonObject } from "../json-rpc.js";
import { canonicalJson } from "./canonical-json.js";
import { isSchema } from "./keywords.js";
import { type Schema, SchemaIndex, type SchemaResource } from "./schema-index.js";
import type { SchemaValidatorConfig } from "./validator-options.js";
import { overLimit, unsupportedDialect } from "./verdict.js";

/** What is asked of a string. */
export interface TextRule {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
}

/**
 * A schema made plain, the same for both dialects. Its nodes are booleans, or objects with the asserting keywords of
 * 2020-12 and these differences:
 *
 * - `$ref` is always `#/$defs/<n>`, an entry of the plan. No other name or reference is left.
 * - `text: <n>` stands for the keywords of strings, `distinct: true` for `uniqueItems`, `among: <n>` for `enum` and
 *   `const` with anything but a few scalars.
 */
export type PlanNode = boolean | JsonObject;

/**
 * A part that is applied more than once: the root, what references lead to, and what is applied to every item or
 * member. All work passes through entries, which is how it is counted.
 */
export interface PlanEntry {
  readonly node: PlanNode;
  /** The work of applying it once, entries below it not included. */
  readonly weight: number;
  /** It compares the items of a list with each other. */
  readonly comparesItems: boolean;
  /** Patterns that it tests on every member's name. */
  readonly namePatterns: number;
}

export interface SchemaPlan {
  /** The first is the whole. */
  readonly entries: readonly PlanEntry[];
  readonly texts: readonly TextRule[];
  /** The values of each `among`. */
  readonly choices: readonly (readonly unknown[])[];
  /** Every pattern once, those of `patternProperties` included. */
  readonly patterns: ReadonlySet<string>;
  /** It says something of items or members that nothing else has looked at. */
  readonly usesUnevaluated: boolean;
  /** The most schemas in one entry. */
  readonly largestEntry: number;
}

/** The dynamic anchors in reach, outermost first come: name to schema and its resource. */
interface DynamicScope {
  readonly key: string;
  readonly anchors: ReadonlyMap<string, { readonly schema: JsonObject; readonly resource: SchemaResource }>;
}

interface Pending {
  readonly schema: Schema;
  readonly resource: SchemaResource;
  readonly scope: DynamicScope;
}

interface Draft {
  weight: number;
  comparesItems: boolean;
  namePatterns: number;
}

const FEW = 32;
const WEIGHT_UNIT = 32;
/** `__proto__` as a member's name is not safe in code that others wrote; as a pattern it is. */
const PROTO = "__proto__";
const COPIED: readonly string[] = [
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxItems",
  "maxProperties",
  "maximum",
  "minItems",
  "minProperties",
  "minimum",
  "multipleOf",
  "required",
  "type",
];

/**
 * Reads a schema into a plan. Pure; bounded by the limits. Throws a refusal for a schema that breaks its dialect or a
 * limit, is of another dialect, or refers to what is not in it.
 *
 * `$dynamicRef` is resolved here: a part is planned once for each set of dynamic anchors that it can be reached with.
 */
export function planSchema(schema: Schema, limits: SchemaValidatorConfig): SchemaPlan {
  if (typeof schema === "boolean") {
    const entry = { node: schema, weight: 1, comparesItems: false, namePatterns: 0 };
    return { entries: [entry], texts: [], choices: [], patterns: new Set(), usesUnevaluated: false, largestEntry: 1 };
  }
  return new Planner(new SchemaIndex(schema, limits), limits).plan();
}

class Planner {
  readonly #index: SchemaIndex;
  readonly #limits: SchemaValidatorConfig;
  readonly #pending: Pending[] = [];
  readonly #numbers = new Map<Schema, Map<string, number>>();
  readonly #texts: TextRule[] = [];
  readonly #choices: (readonly unknown[])[] = [];
  readonly #patterns = new Set<string>();
  #usesUnevaluated = false;
  #nodes = 0;
  #draft: Draft = { weight: 0, comparesItems: false, namePatterns: 0 };

  constructor(index: SchemaIndex, limits: SchemaValidatorConfig) {
    this.#index = index;
    this.#limits = limits;
  }

  plan(): SchemaPlan {
    const { root } = this.#index;
    this.#entry(root.root, root, { key: "", anchors: new Map() });
    const entries: PlanEntry[] = [];
    let largestEntry = 0;
    // Grows while it is walked.
    for (const { schema, resource, scope } of this.#pending) {
      this.#draft = { weight: 0, comparesItems: false, namePatterns: 0 };
      const before = this.#nodes;
      const node = this.#node(schema, resource, scope);
      entries.push({ node, ...this.#draft });
      largestEntry = Math.max(largestEntry, this.#nodes - before);
    }
    return {
      entries,
      texts: this.#texts,
      choices: this.#choices,
      patterns: this.#patterns,
      usesUnevaluated: this.#usesUnevaluated,
      largestEntry,
    };
  }

  /** The reference to the entry for a schema under a scope. */
  #entry(schema: Schema, resource: SchemaResource, scope: DynamicScope): string {
    const numbers = this.#numbers.get(schema) ?? new Map<string, number>();
    this.#numbers.set(schema, numbers);
    let number = numbers.get(scope.key);
    if (number === undefined) {
      number = this.#pending.push({ schema, resource, scope }) - 1;
      numbers.set(scope.key, number);
    }
    return `#/$defs/${String(number)}`;
  }

  #node(schema: Schema, around: SchemaResource, outer: DynamicScope): PlanNode {
    this.#draft.weight += 1;
    if (typeof schema === "boolean") return schema;
    this.#nodes += 1;
    if (this.#nodes > this.#limits.maxSubschemas) throw overLimit("", "maxSubschemas", this.#limits.maxSubschemas);
    const resource = this.#index.resourceOf(schema, around);
    const scope = enter(resource, outer);
    const { $ref } = schema;
    if (typeof $ref === "string" && this.#index.dialect === "draft-07") {
      return { $ref: this.#reference($ref, resource, scope) };
    }
    const node: Record<string, unknown> = {};
    for (const keyword of COPIED) if (Object.hasOwn(schema, keyword)) node[keyword] = schema[keyword];
    if (Array.isArray(schema["required"])) this.#draft.weight += schema["required"].length;
    if (typeof $ref === "string") node["$ref"] = this.#reference($ref, resource, scope);
    if (this.#index.dialect === "2020-12") {
      this.#usesUnevaluated ||=
        Object.hasOwn(schema, "unevaluatedItems") || Object.hasOwn(schema, "unevaluatedProperties");
    }
    this.#values(schema, node);
    this.#strings(schema, node);
    this.#applicators(schema, node, resource, scope);
    this.#lists(schema, node, resource, scope);
    this.#members(schema, node, resource, scope);
    return node;
  }

  #reference(reference: string, resource: SchemaResource, scope: DynamicScope): string {
    const target = this.#index.resolve(reference, resource, "");
    return this.#entry(target.schema, target.resource, enter(target.resource, scope));
  }

  #dynamicReference(reference: string, resource: SchemaResource, scope: DynamicScope): string {
    const target = this.#index.resolve(reference, resource, "");
    const name = target.dynamicName;
    const outermost = name === undefined ? undefined : scope.anchors.get(name);
    if (outermost === undefined) return this.#reference(reference, resource, scope);
    return this.#entry(outermost.schema, outermost.resource, enter(outermost.resource, scope));
  }

  #values(schema: JsonObject, node: Record<string, unknown>): void {
    const constant = Object.hasOwn(schema, "const") ? [[schema["const"]]] : [];
    const enumeration = Array.isArray(schema["enum"]) ? [schema["enum"]] : [];
    const lists: (readonly unknown[])[] = [...constant, ...enumeration];
    const all: PlanNode[] = lists.map((list) => {
      this.#draft.weight += Math.ceil(canonicalJson(list).length / WEIGHT_UNIT);
      const few = list.length > 0 && list.length <= FEW && list.every((value) => typeof value !== "object");
      return few ? { enum: list } : { among: this.#choices.push(list) - 1 };
    });
    if (all.length > 1) node["allOf"] = all;
    else Object.assign(node, all[0]);
  }

  #strings(schema: JsonObject, node: Record<string, unknown>): void {
    const { minLength, maxLength, pattern } = schema;
    if (minLength === undefined && maxLength === undefined && pattern === undefined) return;
    const rule: TextRule = {
      minLength: typeof minLength === "number" ? minLength : undefined,
      maxLength: typeof maxLength === "number" ? maxLength : undefined,
      pattern: typeof pattern === "string" ? pattern : undefined,
    };
    if (rule.pattern !== undefined) this.#patterns.add(rule.pattern);
    node["text"] = this.#texts.push(rule) - 1;
  }

  #applicators(schema: JsonObject, node: Record<string, unknown>, resource: SchemaResource, scope: DynamicScope): void {
    const inPlace = (value: unknown): PlanNode => this.#node(isSchema(value) ? value : true, resource, scope);
    const all: PlanNode[] = Array.isArray(node["allOf"]) ? node["allOf"] : [];
    if (Array.isArray(schema["allOf"])) all.push(...schema["allOf"].map(inPlace));
    const dynamic = schema["$dynamicRef"];
    if (typeof dynamic === "string" && this.#index.dialect === "2020-12") {
      all.push({ $ref: this.#dynamicReference(dynamic, resource, scope) });
    }
    if (all.length > 0) node["allOf"] = all;
    for (const keyword of ["anyOf", "oneOf"]) {
      const list = schema[keyword];
      if (Array.isArray(list)) node[keyword] = list.map(inPlace);
    }
    if (schema["not"] !== undefined) node["not"] = inPlace(schema["not"]);
    if (schema["if"] === undefined) return;
    for (const keyword of ["if", "then", "else"]) {
      if (schema[keyword] !== undefined) node[keyword] = inPlace(schema[keyword]);
    }
  }

  #lists(schema: JsonObject, node: Record<string, unknown>, resource: SchemaResource, scope: DynamicScope): void {
    const { items, prefixItems, additionalItems, contains, uniqueItems, unevaluatedItems } = schema;
    const inPlace = (value: unknown): PlanNode => this.#node(isSchema(value) ? value : true, resource, scope);
    const modern = this.#index.dialect === "2020-12";
    const prefix = modern ? prefixItems : items;
    if (Array.isArray(prefix)) {
      if (prefix.length > 0) node["prefixItems"] = prefix.map(inPlace);
      const rest = modern ? items : additionalItems;
      if (rest !== undefined) node["items"] = this.#each(rest, resource, scope);
    } else if (items !== undefined) {
      node["items"] = this.#each(items, resource, scope);
    }
    if (contains !== undefined) {
      node["contains"] = this.#each(contains, resource, scope);
      for (const keyword of ["minContains", "maxContains"]) {
        if (modern && schema[keyword] !== undefined) node[keyword] = schema[keyword];
      }
    }
    if (modern && unevaluatedItems !== undefined)
      node["unevaluatedItems"] = this.#each(unevaluatedItems, resource, scope);
    if (uniqueItems === true) {
      node["distinct"] = true;
      this.#draft.comparesItems = true;
    }
  }

  #members(schema: JsonObject, node: Record<string, unknown>, resource: SchemaResource, scope: DynamicScope): void {
    const modern = this.#index.dialect === "2020-12";
    const patterns = new Map<string, PlanNode>();
    for (const [pattern, value] of entriesOf(schema["patternProperties"])) {
      patterns.set(pattern, this.#each(value, resource, scope));
    }
    const properties: [string, PlanNode][] = [];
    for (const [name, value] of entriesOf(schema["properties"])) {
      const planned = this.#node(isSchema(value) ? value : true, resource, scope);
      if (name !== PROTO) properties.push([name, planned]);
      else patterns.set(`^${PROTO}$`, { allOf: [planned, patterns.get(`^${PROTO}$`) ?? true] });
    }
    if (properties.length > 0) node["properties"] = Object.fromEntries(properties);
    if (patterns.size > 0) {
      for (const pattern of patterns.keys()) this.#patterns.add(pattern);
      this.#draft.namePatterns += patterns.size;
      node["patternProperties"] = Object.fromEntries(patterns);
    }
    const everyMember = ["additionalProperties", "propertyNames", ...(modern ? ["unevaluatedProperties"] : [])];
    for (const keyword of everyMember) {
      if (schema[keyword] !== undefined) node[keyword] = this.#each(schema[keyword], resource, scope);
    }
    this.#dependents(schema, node, resource, scope);
  }

  #dependents(schema: JsonObject, node: Record<string, unknown>, resource: SchemaResource, scope: DynamicScope): void {
    const modern = this.#index.dialect === "2020-12";
    const dependents = new Map<string, PlanNode>();
    const written = ["dependencies", ...(modern ? ["dependentRequired", "dependentSchemas"] : [])];
    for (const [name, value] of written.flatMap((keyword) => entriesOf(schema[keyword]))) {
      if (name === PROTO) throw unsupportedDialect("", `what depends on a member ${PROTO} can't be judged`);
      if (Array.isArray(value)) this.#draft.weight += value.length;
      const planned = isSchema(value) ? this.#node(value, resource, scope) : { required: value };
      const known = dependents.get(name);
      dependents.set(name, known === undefined ? planned : { allOf: [known, planned] });
    }
    if (dependents.size > 0) node["dependentSchemas"] = Object.fromEntries(dependents);
  }

  /** A part that is applied to every item or member. */
  #each(value: unknown, resource: SchemaResource, scope: DynamicScope): PlanNode {
    if (typeof value === "boolean" || !isSchema(value)) return value !== false;
    return { $ref: this.#entry(value, resource, scope) };
  }
}

function entriesOf(map: unknown): [string, unknown][] {
  return isJsonObject(map) ? Object.entries(map) : [];
}

/** The scope inside a resource: anchors that were in reach before go first. */
function enter(resource: SchemaResource, scope: DynamicScope): DynamicScope {
  const added = [...resource.dynamicAnchors].filter(([name]) => !scope.anchors.has(name));
  if (added.length === 0) return scope;
  const anchors = new Map(scope.anchors);
  for (const [name, schema] of added) anchors.set(name, { schema, resource });
  return {
    key: [...anchors]
      .map(([name, each]) => `${name} ${each.resource.uri}`)
      .toSorted()
      .join("\n"),
    anchors,
  };
}
