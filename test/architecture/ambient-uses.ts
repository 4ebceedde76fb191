import { identifierName, isNode, parseModule, type SyntaxNode, walk } from "./syntax.js";

/** Globals by which code reaches out of itself: network, time, chance, the process. */
const GLOBALS: ReadonlySet<string> = new Set([
  "Buffer",
  "EventSource",
  "WebSocket",
  "XMLHttpRequest",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "global",
  "globalThis",
  "performance",
  "process",
  "queueMicrotask",
  "require",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

const MEMBERS: ReadonlySet<string> = new Set(["AbortSignal.timeout", "Date.now", "Math.random"]);

/** Nodes in which an expression stands that runs, although their names begin like those of types. */
const EXPRESSION_WRAPPERS: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSInstantiationExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** The ambient things that a module touches when it runs, each once, sorted. Types and member names don't count. */
export function readAmbientUses(path: string, text: string): readonly string[] {
  const found = new Set<string>();
  walk(parseModule(path, text), (node, parent) => {
    if (node.type.startsWith("TS") && !EXPRESSION_WRAPPERS.has(node.type)) return false;
    const name = identifierName(node);
    if (name !== undefined && GLOBALS.has(name) && !isMemberName(node, parent)) found.add(name);
    if (node.type === "MemberExpression") {
      const member = `${identifierName(node["object"]) ?? ""}.${memberName(node) ?? ""}`;
      if (MEMBERS.has(member)) found.add(member);
    }
    if (readsTime(node)) found.add("new Date()");
    return true;
  });
  return [...found].toSorted();
}

/** `{ fetch: 1 }`, `class { fetch() {} }` and `port.fetch` name a member; `{ fetch }` and `port[fetch]` use the global. */
function isMemberName(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined || parent["computed"] === true || parent["shorthand"] === true) return false;
  return parent["property"] === node || parent["key"] === node;
}

function memberName(node: SyntaxNode): string | undefined {
  const { property } = node;
  return node["computed"] === true && isNode(property) ? String(property["value"]) : identifierName(property);
}

/** `Date()` and `new Date()` read the clock; with an argument they convert. */
function readsTime(node: SyntaxNode): boolean {
  if (identifierName(node["callee"]) !== "Date") return false;
  const count = Array.isArray(node["arguments"]) ? node["arguments"].length : 0;
  return node.type === "CallExpression" || (node.type === "NewExpression" && count === 0);
}
