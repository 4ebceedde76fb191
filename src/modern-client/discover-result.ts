import { RemoteConnectorError } from "../errors.js";
import { invalidAnswer, isModernRevision, type JsonObject, MODERN_REVISIONS } from "../protocol/index.js";

/**
 * Checks a result of `server/discover`. Throws `unsupported_version` (`answered`) when it names no modern revision of ours, and
 * `invalid_answer` when it names none. Source: 2026-07-28, Discovery.
 */
export function parseDiscoverResult(result: JsonObject): JsonObject {
  const supported = result["supportedVersions"];
  if (
    !Array.isArray(supported) ||
    supported.length === 0 ||
    !supported.every((version) => typeof version === "string")
  ) {
    throw invalidAnswer("server/discover without supportedVersions");
  }
  if (supported.some(isModernRevision)) return result;
  throw new RemoteConnectorError("unsupported_version", {
    message: "The server speaks no modern revision that this client speaks.",
    delivery: "answered",
    details: { supported, ours: MODERN_REVISIONS },
  });
}
