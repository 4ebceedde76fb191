import { timingSafeEqual } from "node:crypto";
import { createBearer, hashBearer } from "../../serving/index.js";

export interface AdminSessionsOptions {
  /** Milliseconds, on any clock. */
  readonly now: () => number;
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** What a browser gets for a link. Both are secrets, of 32 random bytes each. */
export interface BegunSession {
  /** Goes into the cookie. It lets its holder see. */
  readonly cookie: string;
  /**
   * Never goes into a cookie: cookies of a host are sent to whatever listens on any of its ports. Whoever wants to do something shows both.
   */
  readonly key: string;
}

/** A session of the admin plane in a browser. */
export interface AdminSession {
  readonly cookieHash: Uint8Array;
  readonly keyHash: Uint8Array;
  /** When it ends whatever is done with it. */
  readonly endsAt: number;
  /** When it ends unless something is done with it. */
  idleEndsAt: number;
}

const MAX_SESSIONS = 8;
const IDLE_MS = 30 * 60_000;
const LONGEST_MS = 8 * 60 * 60_000;

/** Sessions in browsers: at most 8, of which the oldest ends when there is one more; each for 30 idle minutes and 8 hours in all. */
export class AdminSessions {
  readonly #options: AdminSessionsOptions;
  /** The oldest first. */
  #sessions: readonly AdminSession[] = [];

  constructor(options: AdminSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.length;
  }

  /** When the last of them ends if nothing is done; `undefined` when there is none. */
  get endsAt(): number | undefined {
    return this.#sessions.length === 0 ? undefined : Math.max(...this.#sessions.map(endOf));
  }

  begin(): BegunSession {
    const { now, random } = this.#options;
    const cookie = createBearer(random);
    const key = createBearer(random);
    const session: AdminSession = {
      cookieHash: cookie.hash,
      keyHash: key.hash,
      endsAt: now() + LONGEST_MS,
      idleEndsAt: now() + IDLE_MS,
    };
    this.#sessions = [...this.#present(), session].slice(-MAX_SESSIONS);
    return { cookie: cookie.token, key: key.token };
  }

  /** The session of a cookie, which is not idle then. Hashes are compared in constant time, and none is skipped. */
  find(cookie: string): AdminSession | undefined {
    const hash = hashBearer(cookie);
    this.#sessions = this.#present();
    const [found] = this.#sessions.filter((session) => timingSafeEqual(session.cookieHash, hash));
    if (found !== undefined) found.idleEndsAt = this.#options.now() + IDLE_MS;
    return found;
  }

  end(ended: AdminSession): void {
    this.#sessions = this.#sessions.filter((session) => session !== ended);
  }

  clear(): void {
    this.#sessions = [];
  }

  #present(): readonly AdminSession[] {
    const now = this.#options.now();
    return this.#sessions.filter((session) => now < endOf(session));
  }
}

/** Whether this is the session's key. */
export function isKeyOf({ keyHash }: AdminSession, key: string): boolean {
  return timingSafeEqual(keyHash, hashBearer(key));
}

function endOf({ endsAt, idleEndsAt }: AdminSession): number {
  return Math.min(endsAt, idleEndsAt);
}
