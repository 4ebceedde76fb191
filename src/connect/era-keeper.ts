import { RemoteConnectorError } from "../errors.js";
import { MODERN_REVISION, type Revision } from "../protocol/index.js";
import type { Clock } from "../transport/index.js";
import type { ConnectConfig } from "./connect-options.js";
import { doubtsEra, type EraStanding } from "./doubts-era.js";
import { type FoundEra, probe, probeModern, remember } from "./find-era.js";
import { LegacyFace } from "./legacy-face.js";
import type { EraClient } from "./mcp-client.js";
import type { NotificationFan } from "./notification-fan.js";
import { Search } from "./search.js";

/** The client of one era, for as long as the server is of it. */
export interface EraSession extends EraStanding {
  readonly client: EraClient;
  revision(): Revision;
}

interface KeptSession extends EraSession {
  isProven: boolean;
  /** Calls and subscriptions that run on it. */
  uses: number;
  /** Another one takes its place: nothing more is to be heard on it. */
  onReplaced(): void;
}

/**
 * Keeps the client of a server's era, and another one in its place when the era turns out to be another. The one before is
 * closed when nothing runs on it any more.
 */
export class EraKeeper {
  readonly #config: ConnectConfig;
  readonly #fan: NotificationFan;
  #session: KeptSession;
  /** Those that were replaced and are still in use. */
  readonly #retired = new Set<KeptSession>();
  #checkedAt: number;
  #checking: Promise<boolean> | undefined;
  #closed: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(config: ConnectConfig, found: FoundEra, fan: NotificationFan) {
    this.#config = config;
    this.#fan = fan;
    this.#session = this.#sessionOf(found);
    this.#checkedAt = config.clock.now();
    if (found.era === "legacy" && found.isOld) void this.recheck(this.#session);
  }

  get session(): EraSession {
    return this.#session;
  }

  get clock(): Clock {
    return this.#config.clock;
  }

  /** The session that a call is to be made on, which must be released after it. */
  take(): EraSession {
    this.#session.uses += 1;
    return this.#session;
  }

  /** `succeeded`: the server answered as one of its era does. */
  release(used: EraSession, succeeded: boolean): void {
    const session = this.#find(used);
    if (session === undefined) return;
    session.uses -= 1;
    if (succeeded) session.isProven = true;
    if (session.uses === 0 && this.#retired.delete(session)) void session.client.close();
  }

  /** Whether a failure on this session is a reason to look at the server's era again. */
  doubts(used: EraSession, failure: unknown): boolean {
    if (this.#closed !== undefined || !doubtsEra(failure, used, this.#config)) return false;
    // It was replaced meanwhile.
    if (used !== this.#session || this.#checking !== undefined) return true;
    return !used.isProven || this.#config.clock.now() - this.#checkedAt >= this.#config.recheckPauseMs;
  }

  /** Looks at the server's era. Whether another session has taken the place of this one. Never rejects. */
  recheck(used: EraSession): Promise<boolean> {
    if (used !== this.#session) return Promise.resolve(this.#closed === undefined);
    this.#checking ??= this.#check(this.#session).finally(() => {
      this.#checking = undefined;
      this.#checkedAt = this.#config.clock.now();
    });
    return this.#checking;
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#closing.abort(new RemoteConnectorError("cancelled", CLOSED));
    await Promise.all([this.#session, ...this.#retired].map(({ client }) => client.close()));
    await this.#checking;
  }

  async #check(session: KeptSession): Promise<boolean> {
    const search = new Search(this.#config, this.#fan, this.#closing.signal);
    try {
      const found =
        session.era === "modern" ? await probe(this.#config, search) : await probeModern(this.#config, search);
      if (found === undefined) return false;
      if (found.era === session.era || this.#closed !== undefined) {
        await found.client.close();
        if (found.era === session.era) session.isProven = true;
        return false;
      }
      this.#replace(session, this.#sessionOf(found));
      return true;
    } catch {
      // Nothing is known that wasn't before; the call's own failure says more.
      if (session.era === "modern" && !session.isProven) remember(this.#config, undefined);
      return false;
    } finally {
      search.end();
    }
  }

  #replace(old: KeptSession, session: KeptSession): void {
    this.#session = session;
    old.onReplaced();
    if (old.uses > 0) this.#retired.add(old);
    else void old.client.close();
  }

  #find(used: EraSession): KeptSession | undefined {
    if (used === this.#session) return this.#session;
    for (const session of this.#retired) if (session === used) return session;
    return undefined;
  }

  #sessionOf(found: FoundEra): KeptSession {
    if (found.era === "modern") {
      const { client, isProven } = found;
      // Its subscriptions have streams of their own, which tell of their ends.
      return { era: "modern", client, revision: () => MODERN_REVISION, isProven, uses: 0, onReplaced: nothing };
    }
    const { client, ended } = found;
    const face = new LegacyFace(client, ended, this.#fan, this.#config);
    const onReplaced = (): void => face.breakSubscriptions(eraChanged());
    return { era: "legacy", client: face, revision: () => client.revision, isProven: true, uses: 0, onReplaced };
  }
}

function eraChanged(): RemoteConnectorError<"stream_ended"> {
  return new RemoteConnectorError("stream_ended", {
    message: "The server was replaced by one of another era, which has to be subscribed to anew.",
    details: { reason: "the server is of another era now" },
  });
}

function nothing(): void {
  // Nothing of it is ours to end.
}

const CLOSED = { message: "The client is closed.", details: { reason: "client closed" } };
