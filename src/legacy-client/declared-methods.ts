import type { JsonObject, LegacyRevision } from "../protocol/index.js";

/** Whether a method may be sent to a server that declared these capabilities. */
export type MethodVerdict =
  | { readonly kind: "declared" }
  /** Not declared, and a list: it reads as this, without a request. */
  | { readonly kind: "empty_list"; readonly result: JsonObject }
  /** Not declared: it must not be sent. */
  | { readonly kind: "undeclared"; readonly feature: string };

/** The capability that each method needs: a member of the server's capabilities, or a flag inside one. */
const NEEDS: ReadonlyMap<string, readonly [capability: string, flag?: string]> = new Map([
  ["completion/complete", ["completions"]],
  ["logging/setLevel", ["logging"]],
  ["prompts/get", ["prompts"]],
  ["prompts/list", ["prompts"]],
  ["resources/list", ["resources"]],
  ["resources/read", ["resources"]],
  ["resources/subscribe", ["resources", "subscribe"]],
  ["resources/templates/list", ["resources"]],
  ["resources/unsubscribe", ["resources", "subscribe"]],
  ["tasks/cancel", ["tasks"]],
  ["tasks/get", ["tasks"]],
  ["tasks/list", ["tasks"]],
  ["tasks/result", ["tasks"]],
  ["tools/call", ["tools"]],
  ["tools/list", ["tools"]],
]);

const LISTS: ReadonlyMap<string, string> = new Map([
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["tools/list", "tools"],
]);

/**
 * Tells whether the server's capabilities permit `method`. Methods that the specification doesn't know need none. Total.
 *
 * Source: 2025-11-25, Lifecycle, Capability Negotiation and Operation.
 */
export function classifyMethod(method: string, capabilities: JsonObject, revision: LegacyRevision): MethodVerdict {
  const need = NEEDS.get(method);
  if (need === undefined) return { kind: "declared" };
  const [capability, flag] = need;
  // The first revision had completion, and no way to declare it.
  if (capability === "completions" && revision === "2024-11-05") return { kind: "declared" };
  const declared = capabilities[capability];
  const isDeclared = isTrue(declared) && (flag === undefined || isTrue(Reflect.get(Object(declared), flag)));
  if (isDeclared) return { kind: "declared" };
  const empty = emptyList(method);
  if (empty !== undefined) return { kind: "empty_list", result: empty };
  return { kind: "undeclared", feature: flag === undefined ? capability : `${capability}.${flag}` };
}

/** What a list without entries looks like; `undefined` for a method that is no list. */
export function emptyList(method: string): JsonObject | undefined {
  const member = LISTS.get(method);
  return member === undefined ? undefined : { [member]: [] };
}

/** Capabilities are objects or `true`; `null` and `false` deny what they name. */
function isTrue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
