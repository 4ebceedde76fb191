import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";

/** A key pair that signs compact tokens, independent of the code under test. */
export class TestKey {
  readonly #privateKey: KeyObject;
  /** The public half. */
  readonly jwk: Record<string, unknown>;
  readonly pem: string;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    this.jwk = { ...publicKey.export({ format: "jwk" }) };
    this.pem = String(publicKey.export({ format: "pem", type: "spki" }));
  }

  sign(claims: object, header: object = {}): string {
    const [head, body] = [{ alg: "ES256", ...header }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    const signed = `${String(head)}.${String(body)}`;
    const key = { key: this.#privateKey, dsaEncoding: "ieee-p1363" } as const;
    return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
  }

  /** A DPoP proof; `claims` and `header` are laid over it. */
  proof(
    method: string,
    url: string,
    { accessToken, claims = {}, header = {}, nowMs = Date.now() }: ProofOptions = {},
  ): string {
    const ath = accessToken === undefined ? {} : { ath: createHash("sha256").update(accessToken).digest("base64url") };
    const own = { htm: method, htu: url, iat: Math.floor(nowMs / 1_000), jti: randomUUID(), ...ath, ...claims };
    return this.sign(own, { typ: "dpop+jwt", jwk: this.jwk, ...header });
  }
}

export interface ProofOptions {
  readonly accessToken?: string;
  readonly claims?: object;
  readonly header?: object;
  readonly nowMs?: number;
}
