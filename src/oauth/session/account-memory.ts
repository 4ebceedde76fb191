import { isRemoteConnectorError } from "../../errors.js";
import type { Clock, HeaderMap } from "../../transport/index.js";
import { isExpired, renewalTime } from "./freshness.js";
import type { GrantShelf, StoredGrant } from "./grant-shelf.js";

/**
 * How old the copy of what is stored may be when a request goes out with it. A token that others replaced is found without it, by the
 * refusal of the old one; a sign-out elsewhere is not, and is obeyed after this time at the latest. One read in so many seconds
 * costs nothing beside the requests that it is for.
 */
const COPY_MAX_AGE_MS = 5_000;

/** How old it may be while the store is in use by others for too long. */
const LENIENT_AGE_MS = 60_000;

/** What is known to be stored of an account, and what requests are given for it. */
export interface Held {
  readonly grant: StoredGrant | undefined;
  /** Of a token that is sent as it is; `undefined`: there is none, or each request needs a proof of its own. */
  readonly headers: HeaderMap | undefined;
  /** When the token is to be replaced, in Unix milliseconds. */
  readonly renewAt: number;
}

const NOTHING: Held = { grant: undefined, headers: undefined, renewAt: Infinity };

/** The copy of what is stored of one account that its requests go by. */
export class AccountMemory {
  readonly #shelf: GrantShelf;
  readonly #clock: Clock;
  #held: Held = NOTHING;
  /** When the store was read, by the clock; `-Infinity`: never. */
  #readAt = -Infinity;
  #reading: Promise<Held> | undefined;
  /** Counts what was taken over otherwise: a read that began before is of no use then. */
  #changes = 0;
  /** What has this generation, or an earlier one, is not there any more: stores give none twice. */
  #goneUpTo = -Infinity;

  constructor(shelf: GrantShelf, clock: Clock) {
    this.#shelf = shelf;
    this.#clock = clock;
  }

  /** The copy, if it is young enough. */
  peek(): Held | undefined {
    return this.#clock.now() - this.#readAt < COPY_MAX_AGE_MS ? this.#held : undefined;
  }

  /** The copy as it is, however old. */
  get last(): Held {
    return this.#held;
  }

  /** Reads the store; readers at the same time share one read. Rejects as the store does, and with `oauth_invalid`. */
  read(): Promise<Held> {
    this.#reading ??= this.#load().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** The same, with a read of one's own, and what it read: what the copy says may be newer. */
  async look(): Promise<StoredGrant | undefined> {
    const changes = this.#changes;
    const grant = await this.#shelf.read();
    if (changes === this.#changes) this.#keep(grant);
    return grant;
  }

  /**
   * What was just written to the store, or what a write was answered with; `undefined`: nothing is there. What is older than the copy,
   * or was removed, came late and is passed over.
   */
  take(grant: StoredGrant | undefined): Held {
    this.#changes += 1;
    return this.#keep(grant);
  }

  /** That this generation was removed: no request goes out with it, or an earlier one, whoever read it before. */
  forget(generation: number): void {
    this.#goneUpTo = Math.max(this.#goneUpTo, generation);
    if ((this.#held.grant?.generation ?? -Infinity) <= this.#goneUpTo) this.take(undefined);
  }

  /** The same, with the copy as it is when the store can't be read just now: a request does not fail because others are writing. */
  async readLeniently(): Promise<Held> {
    try {
      return await this.read();
    } catch (error) {
      const isUsable = this.#held.grant !== undefined && this.#clock.now() - this.#readAt < LENIENT_AGE_MS;
      if (isUsable && isRemoteConnectorError(error, "store_in_use")) return this.#held;
      throw error;
    }
  }

  async #load(): Promise<Held> {
    const changes = this.#changes;
    const grant = await this.#shelf.read();
    return changes === this.#changes ? this.#keep(grant) : this.#held;
  }

  #keep(grant: StoredGrant | undefined): Held {
    if (grant !== undefined && this.#isLate(grant)) return this.#held;
    this.#readAt = this.#clock.now();
    if (grant?.generation !== this.#held.grant?.generation || grant === undefined) this.#held = heldOf(grant);
    return this.#held;
  }

  #isLate({ generation }: StoredGrant): boolean {
    return generation <= this.#goneUpTo || generation < (this.#held.grant?.generation ?? -Infinity);
  }
}

function heldOf(grant: StoredGrant | undefined): Held {
  const tokens = grant?.record.tokens;
  if (grant === undefined || tokens === undefined) return { grant, headers: undefined, renewAt: Infinity };
  const { accessToken, tokenType } = tokens;
  const headers = tokenType === "Bearer" ? { Authorization: `Bearer ${accessToken}` } : undefined;
  return { grant, headers, renewAt: renewalTime(tokens, grant.writtenAt) };
}

/** Whether the token of a copy is over by now. */
export function holdsExpired({ grant }: Held, wallNow: number): boolean {
  const tokens = grant?.record.tokens;
  return tokens !== undefined && isExpired(tokens, wallNow);
}
