import { timingSafeEqual } from "node:crypto";
import { createBearer, hashBearer } from "../../serving/index.js";

export interface OneTimeLinksOptions {
  /** Milliseconds, on any clock. */
  readonly now: () => number;
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** How long a link may be opened. */
export const LINK_MS = 120_000;
/** Links that may be opened; the oldest is not any more when there is one more. */
const MAX_LINKS = 4;

interface KeptLink {
  readonly hash: Uint8Array;
  readonly expiresAt: number;
}

/** The secrets of links that can be opened once, for two minutes. Of each its hash is kept, compared in constant time. */
export class OneTimeLinks {
  readonly #options: OneTimeLinksOptions;
  /** The oldest first. */
  #links: readonly KeptLink[] = [];

  constructor(options: OneTimeLinksOptions) {
    this.#options = options;
  }

  /** When the last of them can't be opened any more; `undefined` when none can. */
  get endsAt(): number | undefined {
    return this.#links.at(-1)?.expiresAt;
  }

  /** A new secret of 32 random bytes, in base64url. */
  make(): string {
    const { now, random } = this.#options;
    const { token, hash } = createBearer(random);
    this.#links = [...this.#present(), { hash, expiresAt: now() + LINK_MS }].slice(-MAX_LINKS);
    return token;
  }

  /** Whether a link of this secret could be opened. It can't be any more from then on. */
  take(token: string): boolean {
    const hash = hashBearer(token);
    const present = this.#present();
    // None is skipped, so that the time says nothing.
    const left = present.filter((link) => !timingSafeEqual(link.hash, hash));
    this.#links = left;
    return left.length < present.length;
  }

  clear(): void {
    this.#links = [];
  }

  #present(): readonly KeptLink[] {
    const now = this.#options.now();
    return this.#links.filter(({ expiresAt }) => now < expiresAt);
  }
}
