import { isJsonObject } from "../protocol/index.js";
import type { ReceivedRequest } from "./received-request.js";
import type { ExpectedExchange } from "./script.js";

/**
 * What of a request is not as expected, for people; `undefined` when all is. Values are left out: they can be secrets.
 */
export function findMismatch(expected: ExpectedExchange, request: ReceivedRequest): string | undefined {
  if (request.verb !== (expected.verb ?? "POST")) return "the HTTP method";
  if (expected.path !== undefined && request.path !== expected.path) return "the path";
  if (expected.method !== undefined && request.method !== expected.method) return "the method";
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    if (!isHeader(wanted, request.header(name))) return `the header ${name}`;
  }
  const { params } = expected;
  if (typeof params === "function") return params(request.params) ? undefined : "params";
  return params === undefined ? undefined : findDifference(params, request.params, "params");
}

/** A request by what tells it from others. */
export function describeRequest({ verb, path, method }: ReceivedRequest): string {
  return method === undefined ? `${verb} ${path}` : `${verb} ${path} ${method}`;
}

/** An expected exchange by what tells it from others. */
export function describeExpected({ verb = "POST", path = "", method = "" }: ExpectedExchange): string {
  return [verb, path, method].filter((part) => part !== "").join(" ");
}

function isHeader(wanted: string | RegExp | null, value: string | undefined): boolean {
  if (wanted === null || value === undefined) return wanted === null && value === undefined;
  return typeof wanted === "string" ? wanted === value : value.search(wanted) !== -1;
}

/** The path of the first member of `wanted` that `value` does not have. */
function findDifference(wanted: unknown, value: unknown, path: string): string | undefined {
  if (isJsonObject(wanted)) {
    if (!isJsonObject(value)) return path;
    return firstOf(Object.entries(wanted), ([name, each]) => findDifference(each, value[name], `${path}.${name}`));
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(value) || value.length !== wanted.length) return path;
    return firstOf([...wanted.entries()], ([i, each]) => findDifference(each, value[i], `${path}[${String(i)}]`));
  }
  return Object.is(wanted, value) ? undefined : path;
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
