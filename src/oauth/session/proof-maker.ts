import type { DpopProver } from "../dpop-prover.js";
import { openDpopProver } from "../dpop/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthConfig } from "../oauth-config.js";

/** The prover of the key that the stored tokens are bound to, kept while the key is the same, with the nonces that it learnt. */
export class ProofMaker {
  readonly #config: Pick<OAuthConfig, "randomBytes" | "wallNow">;
  #opened: { readonly key: string; readonly prover: Promise<DpopProver> } | undefined;
  #ready: DpopProver | undefined;

  constructor(config: Pick<OAuthConfig, "randomBytes" | "wallNow">) {
    this.#config = config;
  }

  /** The prover that was used last, if there was one. */
  get current(): DpopProver | undefined {
    return this.#ready;
  }

  /** `undefined`: the tokens are bound to none. Rejects with `oauth_invalid` for a key that can't sign. */
  async proverOf({ dpopKey }: GrantRecord): Promise<DpopProver | undefined> {
    if (dpopKey === undefined) return undefined;
    const key = JSON.stringify(dpopKey);
    if (this.#opened?.key !== key) {
      const { randomBytes, wallNow } = this.#config;
      this.#opened = { key, prover: openDpopProver(dpopKey, { randomBytes, wallNow }) };
    }
    this.#ready = await this.#opened.prover;
    return this.#ready;
  }
}
