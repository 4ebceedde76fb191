import type { ResponseHeaders } from "../../transport/index.js";

/** A prover has to do with an authorization server and a resource server; more than this are forgotten, the oldest first. */
export const MAX_ORIGINS = 16;

const MAX_NONCE_LENGTH = 2_048;

/** The characters of a nonce. Source: RFC 9449, Nonce Syntax. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The last nonce of each origin. */
export class NonceBook {
  /** In the order in which they were learnt. */
  readonly #nonces = new Map<string, string>();

  get(origin: string): string | undefined {
    return this.#nonces.get(origin);
  }

  /** Answers whether it is another one than before. */
  set(origin: string, nonce: string): boolean {
    const before = this.#nonces.get(origin);
    this.#nonces.delete(origin);
    this.#nonces.set(origin, nonce);
    if (this.#nonces.size > MAX_ORIGINS) {
      for (const oldest of this.#nonces.keys()) {
        this.#nonces.delete(oldest);
        break;
      }
    }
    return before !== nonce;
  }
}

/** The nonce of an answer, or `undefined` when there is none, or it is not one. Of several the last counts. */
export function readNonce(headers: ResponseHeaders): string | undefined {
  const field = headers["dpop-nonce"];
  const nonce = Array.isArray(field) ? field.at(-1) : field;
  return nonce !== undefined && nonce.length <= MAX_NONCE_LENGTH && NONCE.test(nonce) ? nonce : undefined;
}
