import { scanObject } from "../../protocol/index.js";
import { addMissingMembers, changeMembers } from "../../serving/index.js";
import type { UpstreamAnswer } from "./ports.js";

/** What a result answers: it says which members differ between the eras. */
export type ResultKind = "tool" | "prompt" | "resource" | "completion";

/** A result as an agent of one era may get it, or the kind of result that it can't get. */
export type FittedResult =
  | { readonly kind: "fits"; readonly raw: Uint8Array }
  | { readonly kind: "undeliverable"; readonly resultType: string };

const COMPLETE = "complete";
const COMPLETE_MEMBER = Buffer.from(`"resultType":"${COMPLETE}"`);
const COMMA = Buffer.from(",");
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Fits a result to the era of the agent. Pure. Within one era the bytes stay as they are. Across eras, and nowhere else:
 *
 * - a modern agent gets `resultType: "complete"` on a legacy result, which has none, and on that of a resource
 *   `ttlMs: 0` and `cacheScope: "private"`, since its revision requires a hint and nothing is known;
 * - a legacy agent doesn't get `resultType`, `ttlMs` and `cacheScope`, which its revision does not know, and finds a tool's
 *   `structuredContent` that is no object under its member `result`, because its revision allows only objects there.
 *
 * A modern result of the type `input_required` is for modern agents, and not of a completion. For whom else it is, it is
 * undeliverable, and so is one of any other type. Source: 2026-07-28, Overview, ResultType; Multi Round-Trip Requests, Supported
 * Requests; Caching, Cacheable Results; Tools, Structured Content; 2025-11-25, Tools, Structured Content.
 */
export function fitResult(answer: UpstreamAnswer, agentEra: "modern" | "legacy", kind: ResultKind): FittedResult {
  const { raw, era, resultType } = answer;
  if (era === "legacy") {
    if (agentEra === "legacy") return fits(raw);
    // Whatever a legacy server's own members of these names hold, it is no hint.
    return fits(kind === "resource" ? changeMembers(raw, MODERN_READ) : withResultType(raw, resultType));
  }
  if (resultType !== undefined && resultType !== COMPLETE) {
    const mayAsk = resultType === "input_required" && agentEra === "modern" && kind !== "completion";
    return mayAsk ? fits(raw) : { kind: "undeliverable", resultType };
  }
  if (agentEra === "legacy") return fits(kind === "tool" ? legacyToolResult(raw) : changeMembers(raw, NOT_LEGACY));
  return fits(kind === "resource" ? addMissingMembers(raw, MODERN_READ) : withResultType(raw, resultType));
}

/** Members that the modern revision requires of a result, as JSON text. */
const MODERN_READ = { resultType: `"${COMPLETE}"`, ttlMs: "0", cacheScope: '"private"' };

/** Members that legacy revisions don't have. */
const NOT_LEGACY = { resultType: undefined, ttlMs: undefined, cacheScope: undefined };

function fits(raw: Uint8Array): FittedResult {
  return { kind: "fits", raw };
}

/** `resultType` is what the bytes hold. Another value than `complete` can only be a legacy server's own member. */
function withResultType(raw: Uint8Array, resultType: string | undefined): Uint8Array {
  if (resultType === COMPLETE) return raw;
  if (resultType !== undefined) return changeMembers(raw, { resultType: `"${COMPLETE}"` });
  const inside = raw.indexOf(OPEN_BRACE) + 1;
  const rest = raw.subarray(inside);
  const first = rest.find((byte) => byte > 0x20);
  return Buffer.concat([raw.subarray(0, inside), COMPLETE_MEMBER, ...(first === CLOSE_BRACE ? [] : [COMMA]), rest]);
}

function legacyToolResult(raw: Uint8Array): Uint8Array {
  const content = scanObject(raw)?.members.findLast(({ name }) => name === "structuredContent")?.value;
  if (content === undefined || raw[content.start] === OPEN_BRACE) return changeMembers(raw, NOT_LEGACY);
  const text = Buffer.from(raw.subarray(content.start, content.end)).toString("utf8");
  return changeMembers(raw, { ...NOT_LEGACY, structuredContent: `{"result":${text}}` });
}
