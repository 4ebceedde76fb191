import { RemoteConnectorError } from "../errors.js";
import { invalidAnswer, peerError } from "../protocol/index.js";
import type { ReceivedAnswer } from "./connection.js";
import { classifyInitializeAnswer, type InitializeContext, type InitializeVerdict } from "./initialize.js";

/** What an answer to `initialize` leads to, when it is no failure. */
export type InitializeStep = Extract<InitializeVerdict, { readonly kind: "ready" | "offer_again" }>;

/**
 * Reads the answer to `initialize`. Throws `unsupported_version` and `peer_error` (`answered`), and `invalid_answer`
 * (`unknown`).
 */
export function readInitializeAnswer(received: ReceivedAnswer, context: InitializeContext): InitializeStep {
  const verdict = classifyInitializeAnswer(received.answer, context);
  if (verdict.kind === "unsupported_version") throw unsupportedVersion(verdict.supported, context.revisions);
  if (verdict.kind === "refused") throw peerError(verdict.error, received.context);
  if (verdict.kind === "invalid") throw invalidAnswer(verdict.reason);
  return verdict;
}

function unsupportedVersion(supported: readonly string[], ours: readonly string[]): RemoteConnectorError {
  return new RemoteConnectorError("unsupported_version", {
    message: `The server speaks ${supported.join(", ")}; accepted here are ${ours.join(", ")}.`,
    delivery: "answered",
    details: { supported, ours },
  });
}
