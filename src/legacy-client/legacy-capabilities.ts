import { isJsonObject, type JsonObject, type LegacyRevision } from "../protocol/index.js";
import { takesForms } from "../protocol/input/index.js";

/**
 * What of declared capabilities, in the form of the newest revision, is said to a server of this revision. Pure.
 *
 * Source: 2025-11-25, 2025-06-18, Lifecycle, Capability Negotiation.
 */
export function legacyCapabilities(revision: LegacyRevision, declared: JsonObject): JsonObject {
  const { elicitation, sampling, roots } = declared;
  const isNewest = revision === "2025-11-25";
  const capabilities: Record<string, JsonObject> = {};
  if (isJsonObject(elicitation)) {
    if (isNewest) capabilities["elicitation"] = elicitation;
    // The one mode that it has is the form.
    else if (revision === "2025-06-18" && takesForms(elicitation)) capabilities["elicitation"] = {};
  }
  if (isJsonObject(sampling)) capabilities["sampling"] = isNewest ? sampling : {};
  if (isJsonObject(roots)) capabilities["roots"] = roots;
  return capabilities;
}
