import { createHash } from "node:crypto";
import type { JsonObject } from "../../protocol/index.js";
import type { ApprovalQuestion } from "../aggregation/index.js";

/**
 * What a sealed state of an approval says. `asked`: the agent has a person asked. `round`: it was approved, and its server wants to hear `state`
 * again; `undefined`: nothing. `turn` is given once. `expiresAt` is in milliseconds of the process's clock.
 */
export type ApprovalState =
  | { readonly phase: "asked"; readonly about: string; readonly turn: number; readonly expiresAt: number }
  | {
      readonly phase: "round";
      readonly about: string;
      readonly turn: number;
      readonly expiresAt: number;
      readonly state: string | undefined;
    };

/** Whose approval it would be, beside what the question says. */
export interface ApprovalHolder {
  /** Of the binding's object, which no other ever has. */
  readonly bindingId: number;
  /** Another text for each sign-in. */
  readonly login: string;
}

/**
 * A digest of everything that an approval is bound to: the agent, the sign-in, the connection, the tool and its contract, and the arguments' very
 * bytes. Pure.
 */
export function aboutOf({ subject, ...question }: ApprovalQuestion, { bindingId, login }: ApprovalHolder): string {
  const { argumentsText } = subject;
  const parts = [
    bindingId,
    login,
    question.scopeEpoch,
    question.connectionId ?? null,
    question.connectorKey,
    subject.kind,
    subject.nativeName,
    question.contractDigest,
    argumentsText === undefined ? null : createHash("sha256").update(argumentsText, "utf8").digest("base64url"),
  ];
  return createHash("sha256").update(JSON.stringify(parts), "utf8").digest("base64url");
}

/** Pure. */
export function encodeApprovalState(state: ApprovalState): JsonObject {
  return { ...state };
}

/** `undefined` for what {@link encodeApprovalState} never made. Pure. */
export function parseApprovalState(payload: JsonObject): ApprovalState | undefined {
  const { phase, about, turn, expiresAt, state } = payload;
  if (typeof about !== "string" || typeof turn !== "number" || typeof expiresAt !== "number") return undefined;
  if (phase === "asked") return { phase, about, turn, expiresAt };
  const isRound = phase === "round" && (state === undefined || typeof state === "string");
  return isRound ? { phase, about, turn, expiresAt, state } : undefined;
}
