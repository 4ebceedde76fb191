import { RemoteConnectorError } from "../../errors.js";
import { refuseOption } from "../../options.js";
import { shownUrl } from "../../transport/index.js";
import type { CredentialKey } from "../ports.js";
import { classifyEnvelope, KEY_BYTES, keyIdOf, NONCE_BYTES, openEnvelope, sealText } from "./envelope.js";
import { type RandomBytes, systemRandomBytes } from "./random-bytes.js";

/** Seals texts, and opens them again. The keys themselves can't be had of it. */
export interface VaultKey {
  /** Which key seals. It says nothing of the key. */
  readonly id: string;
  /** The text as a versioned envelope that can be opened for this place alone. Throws `store_unavailable` once closed. */
  seal(text: string, place: CredentialKey): string;
  /**
   * The text of an envelope. Throws `oauth_invalid` about a `credential` for anything but a whole envelope that was sealed for this
   * place with one of the keys, and `store_unavailable` once closed. No error says anything of the text.
   */
  open(envelope: string, place: CredentialKey): string;
  /** Wipes the keys. Idempotent. */
  close(): void;
}

/** What {@link createVaultKey} can be told. */
export interface CreateVaultKeyOptions {
  /** Of 32 bytes each. The first seals, each of them opens. They are copied: whoever made them wipes them. */
  readonly keys: readonly Uint8Array[];
  /** So many bytes that nobody can guess. Default: the system's. */
  readonly randomBytes?: RandomBytes | undefined;
}

/** A vault key of keys that the caller keeps, such as in a key service. Throws `invalid_options`. */
export function createVaultKey({ keys, randomBytes = systemRandomBytes }: CreateVaultKeyOptions): VaultKey {
  const [first] = keys;
  if (first === undefined) return refuseOption("keys", "must have a key");
  if (keys.some((key) => key.length !== KEY_BYTES)) return refuseOption("keys", "must have 32 bytes each");
  return new KeyRing(first, keys, randomBytes);
}

class KeyRing implements VaultKey {
  readonly id: string;
  readonly #keys: Map<string, Buffer>;
  readonly #randomBytes: RandomBytes;

  constructor(first: Uint8Array, keys: readonly Uint8Array[], randomBytes: RandomBytes) {
    this.id = keyIdOf(first);
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), copyOf(key)]));
    this.#randomBytes = randomBytes;
  }

  seal(text: string, place: CredentialKey): string {
    const key = this.#keys.get(this.id);
    if (key === undefined) throw closed();
    return sealText(text, place, key, this.#randomBytes(NONCE_BYTES));
  }

  open(envelope: string, place: CredentialKey): string {
    if (this.#keys.size === 0) throw closed();
    const verdict = classifyEnvelope(envelope);
    if (verdict.kind !== "envelope") throw credentialFault(place, REASONS[verdict.kind]);
    const key = this.#keys.get(verdict.envelope.keyId);
    if (key === undefined) throw credentialFault(place, "is sealed with a key that is not here");
    const text = openEnvelope(verdict.envelope, place, key);
    if (text === undefined) throw credentialFault(place, "is damaged, or was sealed for another place");
    return text;
  }

  close(): void {
    for (const key of this.#keys.values()) key.fill(0);
    this.#keys.clear();
  }
}

const REASONS = {
  foreign: "is not sealed",
  newer: "is sealed in a format that is not known",
  damaged: "is damaged",
} as const;

/** The error for an entry that is not used. */
export function credentialFault(
  { resource, name }: CredentialKey,
  reason: string,
): RemoteConnectorError<"oauth_invalid"> {
  const url = URL.canParse(resource) ? shownUrl(new URL(resource)) : "(not a URL)";
  return new RemoteConnectorError("oauth_invalid", {
    message: `The credential ${name} of ${url} ${reason}.`,
    details: { subject: "credential", url, member: name, reason },
  });
}

function closed(): RemoteConnectorError<"store_unavailable"> {
  return new RemoteConnectorError("store_unavailable", {
    message: "The vault's key is closed.",
    details: { path: "vault key", reason: "closed" },
  });
}

/** In memory of its own: that of small buffers is shared by many. */
function copyOf(key: Uint8Array): Buffer {
  const copy = Buffer.alloc(KEY_BYTES);
  copy.set(key);
  return copy;
}
