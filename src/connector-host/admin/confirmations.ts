import { createHash, randomBytes } from "node:crypto";

export interface ConfirmationsOptions {
  /** Milliseconds, on any clock. */
  readonly now: () => number;
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** Questions that wait for an answer; the oldest goes when there is one more. */
const MAX_PENDING = 16;
/** How long a person may take. */
export const CONFIRMATION_MS = 120_000;

/**
 * Questions to people that wait for an answer, each about exactly one request. Who answers one shows its id, which is good for that
 * request, once and within two minutes.
 */
export class Confirmations {
  readonly #options: ConfirmationsOptions;
  /** By id, the oldest first. */
  readonly #pending = new Map<string, { readonly digest: string; readonly expiresAt: number }>();

  constructor(options: ConfirmationsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** `subject`: everything that the request says. */
  ask(subject: string): string {
    const { now, random = randomBytes } = this.#options;
    const id = Buffer.from(random(16)).toString("base64url");
    this.#pending.set(id, { digest: digestOf(subject), expiresAt: now() + CONFIRMATION_MS });
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= MAX_PENDING) break;
      this.#pending.delete(oldest);
    }
    return id;
  }

  /** Whether this id was given for this request. It is good for nothing from then on. */
  take(id: string, subject: string): boolean {
    const found = this.#pending.get(id);
    this.#pending.delete(id);
    return found !== undefined && found.digest === digestOf(subject) && this.#options.now() < found.expiresAt;
  }
}

function digestOf(subject: string): string {
  return createHash("sha256").update(subject, "utf8").digest("base64url");
}
