import {
  type Answer,
  type Diagnostic,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type JsonRpcError,
  type LegacyRevision,
  RpcCode,
} from "../protocol/index.js";
import type { LegacyClientConfig } from "./client-options.js";
import { legacyCapabilities } from "./legacy-capabilities.js";

/** What a server said of itself when it was initialized. */
export interface ServerIntroduction {
  /** The revision that both sides speak from now on. */
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  /** `undefined` when the server didn't say. */
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
}

/** What an answer to `initialize` means. */
export type InitializeVerdict =
  | { readonly kind: "ready"; readonly introduction: ServerIntroduction; readonly diagnostics: readonly Diagnostic[] }
  /** The server named a revision that both sides speak: ask once more with that one. */
  | { readonly kind: "offer_again"; readonly revision: LegacyRevision }
  /** No revision is spoken by both sides; `supported` is what the server named. */
  | { readonly kind: "unsupported_version"; readonly supported: readonly string[] }
  | { readonly kind: "refused"; readonly error: JsonRpcError }
  | { readonly kind: "invalid"; readonly reason: string };

export interface InitializeContext {
  /** The revisions that we accept, the preferred one first. */
  readonly revisions: readonly LegacyRevision[];
  /** Those that were offered until now. */
  readonly offered: readonly LegacyRevision[];
}

/**
 * The params of `initialize`: what is declared is what of the capabilities the revision has.
 *
 * Source: 2025-11-25, Lifecycle, Initialization.
 */
export function initializeParams(
  revision: LegacyRevision,
  { clientInfo, capabilities }: Pick<LegacyClientConfig, "clientInfo" | "capabilities">,
): JsonObject {
  return { protocolVersion: revision, capabilities: legacyCapabilities(revision, capabilities), clientInfo };
}

/**
 * Tells what the answer to `initialize` means. Total: throws nothing.
 *
 * The server answers with the offered revision or with another that it prefers, which we may accept or not. Some refuse
 * instead and name what they speak in the error's data. Source: 2025-11-25, Lifecycle, Version Negotiation.
 */
export function classifyInitializeAnswer(answer: Answer, context: InitializeContext): InitializeVerdict {
  if (answer.kind === "invalid") return { kind: "invalid", reason: answer.reason };
  return answer.kind === "error" ? classifyRefusal(answer.error, context) : classifyResult(answer.result, context);
}

function classifyRefusal(error: JsonRpcError, { revisions, offered }: InitializeContext): InitializeVerdict {
  const supported = isJsonObject(error.data) ? error.data["supported"] : undefined;
  if (error.code !== RpcCode.invalidParams || !isNonEmptyStrings(supported)) return { kind: "refused", error };
  const mutual = revisions.filter((revision) => supported.includes(revision));
  if (mutual.length === 0) return { kind: "unsupported_version", supported };
  const next = mutual.find((revision) => !offered.includes(revision));
  // It refuses a revision that it says it speaks.
  if (next === undefined || offered.length > 1) return { kind: "refused", error };
  return { kind: "offer_again", revision: next };
}

function classifyResult(result: JsonObject, { revisions }: InitializeContext): InitializeVerdict {
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (typeof protocolVersion !== "string") return { kind: "invalid", reason: "without protocolVersion" };
  const revision = revisions.find((candidate) => candidate === protocolVersion);
  if (revision === undefined) return { kind: "unsupported_version", supported: [protocolVersion] };
  const diagnostics: Diagnostic[] = [];
  const note = (subject: string): undefined => {
    const message = `The member ${subject} of the answer to initialize has a wrong type and was removed.`;
    diagnostics.push({ kind: "member_removed", message, subject });
    return undefined;
  };
  const introduction: ServerIntroduction = {
    revision,
    capabilities: isJsonObject(capabilities) ? capabilities : (note("capabilities") ?? {}),
    serverInfo: isImplementation(serverInfo) ? serverInfo : note("serverInfo"),
    instructions: isOptionalString(instructions) ? (instructions ?? undefined) : note("instructions"),
  };
  return { kind: "ready", introduction, diagnostics };
}

function isImplementation(value: unknown): value is Implementation {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

function isOptionalString(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === "string";
}

function isNonEmptyStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === "string");
}
