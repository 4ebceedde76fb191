import { isJsonObject, type JsonObject } from "../json-rpc.js";
import { plainText } from "../plain-text.js";
import { pointerStep, pointerSteps } from "./json-pointer.js";
import { type Dialect, dialectOf, isSchema, keywordShape, shapeProblem } from "./keywords.js";
import type { SchemaValidatorConfig } from "./validator-options.js";
import { brokenSchema, overLimit, type Refusal, unresolvedRef, unsupportedDialect } from "./verdict.js";

/** A schema or boolean schema. */
export type Schema = boolean | JsonObject;

/** A schema with an address of its own: the root, and every subschema with an `$id`. */
export interface SchemaResource {
  readonly uri: string;
  readonly root: JsonObject;
  readonly anchors: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, JsonObject>;
}

/** What a reference leads to. */
export interface Target {
  readonly schema: Schema;
  readonly resource: SchemaResource;
  /** The name of the `$dynamicAnchor` that was hit. */
  readonly dynamicName: string | undefined;
}

/** The address of a schema that has none. Nothing can be fetched from it. */
const ROOT_URI = "schema://whole/";
const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;

type Limits = Pick<SchemaValidatorConfig, "maxSchemaDepth" | "maxSubschemas">;

/**
 * One schema document, read once: every subschema checked against its dialect and counted, every `$id` and anchor
 * resolved inside the document alone. What it refuses it throws as a refusal.
 */
export class SchemaIndex {
  readonly dialect: Dialect;
  readonly root: SchemaResource;
  readonly #limits: Limits;
  readonly #resources = new Map<string, SchemaResource>();
  readonly #resourceOf = new Map<JsonObject, SchemaResource>();

  constructor(schema: JsonObject, limits: Limits) {
    this.#limits = limits;
    this.dialect = readDialect(schema, "", "2020-12");
    this.root = newResource(ROOT_URI, schema);
    this.#resources.set(ROOT_URI, this.root);
    this.#add(schema, this.root, "", 1);
  }

  /** The resource that a schema belongs to, which for one with an `$id` is its own. */
  resourceOf(schema: JsonObject, around: SchemaResource): SchemaResource {
    return this.#resourceOf.get(schema) ?? around;
  }

  /** Where a reference leads. Throws a refusal (`unresolved_ref`) for all that is not in this document. */
  resolve(reference: string, from: SchemaResource, path: string): Target {
    const shown = plainText(reference, 120);
    const unresolved = (): Refusal => unresolvedRef(path, `the reference ${shown} leads to nothing in this schema`);
    const url = parseUri(reference, from.uri);
    if (url === undefined) throw unresolved();
    const fragment = decodeFragment(url.hash.slice(1));
    url.hash = "";
    const resource = this.#resources.get(url.href);
    if (resource === undefined || fragment === undefined) throw unresolved();
    const anchored = resource.anchors.get(fragment);
    if (anchored !== undefined) {
      const dynamicName = resource.dynamicAnchors.get(fragment) === anchored ? fragment : undefined;
      return { schema: anchored, resource, dynamicName };
    }
    const steps = pointerSteps(fragment);
    if (steps === undefined) throw unresolved();
    const target = this.#follow(steps, resource, path);
    if (target === undefined) throw unresolved();
    return target;
  }

  #follow(steps: readonly string[], start: SchemaResource, path: string): Target | undefined {
    let at: unknown = start.root;
    let resource = start;
    for (const step of steps) {
      if (isJsonObject(at)) resource = this.resourceOf(at, resource);
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
      at = Reflect.get(at, step);
    }
    if (!isSchema(at)) return undefined;
    if (typeof at !== "boolean") {
      // A place that the dialect does not know as a schema becomes one by being referred to.
      if (!this.#resourceOf.has(at)) this.#add(at, resource, path, 1);
      resource = this.resourceOf(at, resource);
    }
    return { schema: at, resource, dynamicName: undefined };
  }

  #add(schema: Schema, around: SchemaResource, path: string, depth: number): void {
    if (depth > this.#limits.maxSchemaDepth) throw overLimit(path, "maxSchemaDepth", this.#limits.maxSchemaDepth);
    if (typeof schema === "boolean" || this.#resourceOf.has(schema)) return;
    if (this.#resourceOf.size >= this.#limits.maxSubschemas) {
      throw overLimit(path, "maxSubschemas", this.#limits.maxSubschemas);
    }
    if (readDialect(schema, path, this.dialect) !== this.dialect) {
      throw unsupportedDialect(`${path}/$schema`, "another dialect than that of the whole schema");
    }
    for (const [keyword, value] of Object.entries(schema)) {
      const shape = keywordShape(this.dialect, keyword);
      const problem = shape === undefined ? undefined : shapeProblem(shape, value);
      if (problem !== undefined) throw brokenSchema(path + pointerStep(keyword), problem);
    }
    const resource = this.#name(schema, around, path);
    this.#resourceOf.set(schema, resource);
    for (const { value, path: below } of subschemas(schema, this.dialect)) {
      this.#add(value, resource, path + below, depth + 1);
    }
  }

  /** Notes the names by which a schema can be referred to, and returns the resource that it belongs to. */
  #name(schema: JsonObject, around: SchemaResource, path: string): SchemaResource {
    let resource = around;
    const id = schema["$id"];
    // In draft-07 a reference hides everything beside it.
    if (typeof id === "string" && !(this.dialect === "draft-07" && schema["$ref"] !== undefined)) {
      if (this.dialect === "draft-07" && id.startsWith("#")) {
        this.#anchor(resource.anchors, id.slice(1), schema, `${path}/$id`);
      } else {
        resource = this.#newResource(id, schema, around, path);
      }
    }
    if (this.dialect === "draft-07") return resource;
    const { $anchor, $dynamicAnchor } = schema;
    if (typeof $anchor === "string") this.#anchor(resource.anchors, $anchor, schema, `${path}/$anchor`);
    if (typeof $dynamicAnchor === "string") {
      if ($dynamicAnchor !== $anchor) {
        this.#anchor(resource.anchors, $dynamicAnchor, schema, `${path}/$dynamicAnchor`);
      }
      resource.dynamicAnchors.set($dynamicAnchor, schema);
    }
    return resource;
  }

  #newResource(id: string, schema: JsonObject, around: SchemaResource, path: string): SchemaResource {
    const url = parseUri(id, around.uri);
    if (url === undefined || url.hash.length > 1) throw brokenSchema(`${path}/$id`, "not an address without fragment");
    url.hash = "";
    const resource = schema === this.root.root ? { ...this.root, uri: url.href } : newResource(url.href, schema);
    if (this.#resources.has(url.href)) throw brokenSchema(`${path}/$id`, "used twice");
    this.#resources.set(url.href, resource);
    return resource;
  }

  #anchor(anchors: Map<string, JsonObject>, name: string, schema: JsonObject, path: string): void {
    if (!ANCHOR.test(name)) throw brokenSchema(path, "not a name");
    if (anchors.has(name)) throw brokenSchema(path, "used twice");
    anchors.set(name, schema);
  }
}

function newResource(uri: string, root: JsonObject): SchemaResource {
  return { uri, root, anchors: new Map(), dynamicAnchors: new Map() };
}

function readDialect(schema: JsonObject, path: string, inherited: Dialect): Dialect {
  const uri = schema["$schema"];
  if (uri === undefined) return inherited;
  if (typeof uri !== "string") throw brokenSchema(`${path}/$schema`, "not a string");
  const dialect = dialectOf(uri);
  if (dialect === undefined) throw unsupportedDialect(`${path}/$schema`, "neither 2020-12 nor draft-07");
  return dialect;
}

/** The schemas directly inside a schema, with their places in it. */
function subschemas(schema: JsonObject, dialect: Dialect): { readonly value: Schema; readonly path: string }[] {
  const found: { readonly value: Schema; readonly path: string }[] = [];
  const add = (value: unknown, path: string): void => {
    if (isSchema(value)) found.push({ value, path });
  };
  for (const [keyword, value] of Object.entries(schema)) {
    const path = pointerStep(keyword);
    const shape = keywordShape(dialect, keyword);
    if (shape === "schema" || shape === "schemaList" || shape === "items") {
      if (Array.isArray(value)) value.forEach((each, i) => add(each, path + pointerStep(i)));
      else add(value, path);
    } else if (shape === "schemaMap" || shape === "dependencies") {
      for (const [name, each] of Object.entries(Object(value))) add(each, path + pointerStep(name));
    }
  }
  return found;
}

function parseUri(reference: string, base: string): URL | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base) : undefined;
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
