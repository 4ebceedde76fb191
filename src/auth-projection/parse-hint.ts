import { isJsonObject } from "../protocol/index.js";
import { isConnectorKey } from "./identifiers.js";
import { readUnsigned } from "./unsigned.js";

/** What a frame of the hint socket is. */
export type HintFrame =
  /** Authorizations changed. What the payload says of it is for diagnostics only: the snapshot is the truth. */
  | { readonly kind: "changed"; readonly revision: bigint | undefined; readonly connectorKey: string | undefined }
  | { readonly kind: "other_event" }
  | { readonly kind: "malformed" };

const EVENT = "connector.authorization.changed";

/**
 * Reads one frame. Total: throws nothing.
 *
 * The event's name stands in `type` or `event_type`; its payload is an object, or that object's JSON in base64. An event
 * of the right name with a payload that can't be read is still a change.
 */
export function parseHint(frame: Uint8Array): HintFrame {
  const message = parseJson(frame);
  if (!isJsonObject(message)) return { kind: "malformed" };
  if (message.type !== EVENT && message.event_type !== EVENT) return { kind: "other_event" };
  const payload =
    typeof message.payload === "string" ? parseJson(Buffer.from(message.payload, "base64")) : message.payload;
  const { revision, connectorId } = isJsonObject(payload) ? payload : {};
  return {
    kind: "changed",
    revision: readUnsigned(revision),
    connectorKey: isConnectorKey(connectorId) ? connectorId : undefined,
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
