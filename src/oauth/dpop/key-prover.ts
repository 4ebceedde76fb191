import type * as Jose from "jose";
import type { ResponseHeaders } from "../../transport/index.js";
import type { DpopProver } from "../dpop-prover.js";
import { publicHalf } from "./algorithm.js";
import { NonceBook, readNonce } from "./nonce-book.js";
import { hashAccessToken, nonceOfProof, parseProofTarget, type ProofClaims } from "./proof-claims.js";

/** What proofs need beside a key. */
export interface ProverPorts {
  /** Unix time in milliseconds. */
  readonly wallNow: () => number;
  /** So many bytes that nobody can guess. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/** A key that can sign. */
export interface ProverKey {
  readonly algorithm: string;
  readonly privateKey: Jose.CryptoKey;
  readonly jwk: Jose.JWK;
}

const ID_BYTES = 16;

/** Makes proofs with one key. */
export class KeyProver implements DpopProver {
  readonly key: Readonly<Record<string, unknown>>;
  readonly #jose: typeof Jose;
  readonly #privateKey: Jose.CryptoKey;
  readonly #header: Jose.JWTHeaderParameters;
  readonly #ports: ProverPorts;
  readonly #nonces = new NonceBook();
  /** The hash of the token that was proved last: it is the same for one request after the other. */
  #hashed: { readonly accessToken: string; readonly ath: string } | undefined;

  constructor(jose: typeof Jose, key: ProverKey, ports: ProverPorts) {
    this.#jose = jose;
    this.#privateKey = key.privateKey;
    this.#ports = ports;
    this.#header = { alg: key.algorithm, typ: "dpop+jwt", jwk: publicHalf(key.jwk) };
    this.key = { ...key.jwk, alg: key.algorithm };
  }

  async proof(request: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string | undefined;
  }): Promise<string> {
    const { origin, htu } = parseProofTarget(request.url);
    const nonce = this.#nonces.get(origin);
    const claims: ProofClaims = {
      jti: Buffer.from(this.#ports.randomBytes(ID_BYTES)).toString("base64url"),
      htm: request.method,
      htu,
      iat: Math.floor(this.#ports.wallNow() / 1_000),
      ...(request.accessToken === undefined ? {} : { ath: this.#hashOf(request.accessToken) }),
      ...(nonce === undefined ? {} : { nonce }),
    };
    return new this.#jose.SignJWT({ ...claims }).setProtectedHeader(this.#header).sign(this.#privateKey);
  }

  learn(url: string, headers: ResponseHeaders, proof?: string): boolean {
    const { origin } = parseProofTarget(url);
    const nonce = readNonce(headers);
    const changed = nonce !== undefined && this.#nonces.set(origin, nonce);
    return proof === undefined ? changed : this.#nonces.get(origin) !== nonceOfProof(proof);
  }

  #hashOf(accessToken: string): string {
    if (this.#hashed?.accessToken !== accessToken) {
      this.#hashed = { accessToken, ath: hashAccessToken(accessToken) };
    }
    return this.#hashed.ath;
  }
}
