import { createCipheriv, createDecipheriv, randomBytes as systemRandomBytes } from "node:crypto";
import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { isJsonObject, type JsonObject, refuseArgument } from "../../protocol/index.js";
import type { OpenedState, SealedContent, StateKind, StateSealer } from "./state-sealer.js";

export interface StateSealerOptions {
  /** Of the host, the same in each of its processes and no other host's: 1 to 64 of A-Z a-z 0-9 _ -. Left out: a random one. */
  readonly hostId?: string | undefined;
  /** Left out: those of the platform. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}

/** What every state begins with that a host of this package made. */
const MARKER = "remote-connector.1";
const WORD = /^[A-Za-z0-9_-]{1,64}$/;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const EPOCH_BYTES = 12;

/**
 * Seals states with AES-256-GCM, under a key that lives as long as what this returns does. The text is `marker.host.epoch.kind.call.` and
 * the sealed payload in base64url; what can be read of it is authenticated with it. Throws `invalid_options`.
 */
export function createStateSealer(options: StateSealerOptions = {}): StateSealer {
  refuseUnknownOptions(options, ["hostId", "randomBytes"]);
  const randomBytes = options.randomBytes ?? systemRandomBytes;
  const hostId = options.hostId ?? textOf(randomBytes(EPOCH_BYTES));
  if (!WORD.test(hostId)) refuseOption("hostId", "must be 1 to 64 of A-Z a-z 0-9 _ -");
  const key = randomBytes(KEY_BYTES);
  const epoch = textOf(randomBytes(EPOCH_BYTES));
  const ours = `${MARKER}.${hostId}.`;
  return {
    seal({ kind, callId, payload }: SealedContent): string {
      if (!WORD.test(callId)) refuseArgument("callId", "must be 1 to 64 of A-Z a-z 0-9 _ -");
      const head = `${ours}${epoch}.${kind}.${callId}.`;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(head, "utf8"));
      const body = [cipher.update(JSON.stringify(payload), "utf8"), cipher.final()];
      return head + Buffer.concat([nonce, ...body, cipher.getAuthTag()]).toString("base64url");
    },
    open(text: string): OpenedState {
      if (!text.startsWith(ours)) return { kind: "foreign" };
      const parts = text.slice(ours.length).split(".");
      const [ofEpoch = "", kind = "", callId = "", sealed = ""] = parts;
      if (parts.length !== 4 || !WORD.test(ofEpoch) || !WORD.test(callId) || !isStateKind(kind)) return BROKEN;
      if (ofEpoch !== epoch) return { kind: "past", of: kind };
      const payload = unseal(key, text.slice(0, text.length - sealed.length), sealed);
      return payload === undefined ? BROKEN : { kind: "opened", content: { kind, callId, payload } };
    },
  };
}

const BROKEN: OpenedState = { kind: "broken" };

function unseal(key: Uint8Array, head: string, sealed: string): JsonObject | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  // Other texts are decoded to the same bytes.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== sealed) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(head, "utf8"))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
    const payload: unknown = JSON.parse(text);
    return isJsonObject(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}

function isStateKind(text: string): text is StateKind {
  return text === "held" || text === "approval";
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
