import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { refuseOption } from "../../options.js";
import type { CredentialKey } from "../ports.js";

/** A sealed text, in its parts. */
export interface Envelope {
  /** Of the key that sealed it. */
  readonly keyId: string;
  /** Nonce, ciphertext and tag. */
  readonly body: Buffer;
}

/** `foreign`: the text is none of any format. `newer`: it is one of a format that is not known. `damaged`: it is not whole. */
export type EnvelopeVerdict =
  | { readonly kind: "envelope"; readonly envelope: Envelope }
  | { readonly kind: "foreign" | "newer" | "damaged" };

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
const FORMAT = 1;
const SHAPE = /^rcv([0-9]{1,9})\.(.*)$/s;
const BODY_SHAPE = /^([\w-]{22})\.([\w-]+)$/;

/** The id of a key: says which one it is, and nothing of what it is. 22 characters. */
export function keyIdOf(key: Uint8Array): string {
  const hash = createHash("sha256").update("remote-connector vault key id\0").update(key).digest();
  return hash.subarray(0, 16).toString("base64url");
}

/** Whether a text is an envelope. It is told from others by how it begins, and has one spelling alone. */
export function classifyEnvelope(text: string): EnvelopeVerdict {
  const [, format, rest] = SHAPE.exec(text) ?? [];
  if (format === undefined || rest === undefined) return { kind: "foreign" };
  if (format !== String(FORMAT)) return { kind: "newer" };
  const [, keyId, encoded] = BODY_SHAPE.exec(rest) ?? [];
  if (keyId === undefined || encoded === undefined) return { kind: "damaged" };
  const body = Buffer.from(encoded, "base64url");
  // Decoding is lenient: characters and bits that it passes over must not be there.
  if (body.toString("base64url") !== encoded || body.length <= NONCE_BYTES + TAG_BYTES) return { kind: "damaged" };
  return { kind: "envelope", envelope: { keyId, body } };
}

/**
 * Seals a text for one place with AES-256-GCM. `nonce` is 12 bytes that were never used with this key: random ones will do for some
 * thousand millions of texts. The bytes of the text are wiped afterwards. Source: NIST SP 800-38D, 8.2.2.
 */
export function sealText(text: string, place: CredentialKey, key: Uint8Array, nonce: Uint8Array): string {
  // The cipher would take any other length.
  if (nonce.length !== NONCE_BYTES) refuseOption("randomBytes", "must give as many bytes as it is asked for");
  const plain = encodeText(text);
  try {
    const cipher = createCipheriv(CIPHER, key, nonce);
    cipher.setAAD(boundTo(place));
    const body = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return `rcv${String(FORMAT)}.${keyIdOf(key)}.${body.toString("base64url")}`;
  } finally {
    plain.fill(0);
  }
}

/** The text of an envelope; `undefined` when it is damaged, or was sealed for another place or with another key. */
export function openEnvelope({ body }: Envelope, place: CredentialKey, key: Uint8Array): string | undefined {
  const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(place));
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  // All of it: this cipher keeps nothing back.
  const plain = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return decodeText(plain);
  } catch {
    return undefined;
  } finally {
    plain.fill(0);
  }
}

/** JSON, so that no two places are written alike, whichever characters they hold. */
function boundTo({ resource, name }: CredentialKey): Buffer {
  return Buffer.from(JSON.stringify(["remote-connector credential", FORMAT, resource, name]), "utf8");
}

/** Halves of surrogate pairs have no UTF-8: a text with one is written as JSON. The first byte tells. */
function encodeText(text: string): Buffer {
  return Buffer.from(/\p{Surrogate}/u.test(text) ? `j${JSON.stringify(text)}` : `t${text}`, "utf8");
}

function decodeText(plain: Buffer): string | undefined {
  const text = plain.toString("utf8", 1);
  if (plain[0] === "t".charCodeAt(0)) return text;
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "string" ? parsed : undefined;
}
