import type { Clock } from "../../transport/index.js";
import type { Binding, ListKind } from "../local-server/index.js";
import { digestIn, GivenViews, type View } from "./given-views.js";
import { NewsPace } from "./news-pace.js";
import type { Reach } from "./ports.js";
import { type News, PendingNews } from "./pending-news.js";

/** The agents that listen, and how they are told. The local server's `Listeners` are. */
export interface ListeningAgents {
  /** The bindings that listen for changes of a list. */
  bindings(kind: ListKind): ReadonlySet<Binding>;
  /** Tells those for which `concerns` holds that their list changed. */
  tell(kind: ListKind, concerns: (binding: Binding) => boolean): void;
  /** Calls `run` whenever one more listens or one fewer, until the returned function is called. */
  onChange(run: () => void): () => void;
}

export interface ListNewsOptions {
  readonly kind: ListKind;
  readonly clock: Clock;
  readonly reach: Pick<Reach, "followedBy" | "scopesOf">;
  /** Whether `differs` can tell at once, so that looking at the connector costs its server nothing. */
  readonly isKnown: (connectorKey: string) => boolean;
  /**
   * Whether the binding, which reaches the scopes, would now get another part of this connector than the one with this digest, `""` being
   * none.
   * Rejects when that can't be known at the moment.
   */
  readonly differs: (
    scopes: readonly string[],
    connectorKey: string,
    digest: string,
    binding: Binding,
  ) => Promise<boolean>;
}

/** News within that time are looked at together. */
const GATHER_MS = 20;
/** When a connector is looked at again that did not answer, and how many times it is looked at. */
const AGAIN_MS = 30_000;
const TRIES = 3;
/** How many times in a row agents are told of changes of one connector, and its server is asked, before that is done once in ten seconds. */
const TELLINGS = 5;
const LOOKS = 20;
/** Connectors that are looked at at once. */
const LOOKS_AT_ONCE = 32;

/**
 * Tells listening agents that a list of theirs changed, when it did: what each would get is compared with what it was given. Of a
 * connector that may have changed only its own part is read, once for all, and those of whom it is known already are not
 * asked about again. An agent that was never given a list has nothing to compare: it is told whenever something did change. Each
 * connector is looked at by itself: one that does not answer delays the news of no other, and is looked at again.
 */
export class ListNews {
  readonly #options: ListNewsOptions;
  readonly #given = new GivenViews();
  readonly #pending = new PendingNews();
  readonly #tellings = new NewsPace(TELLINGS);
  readonly #looks = new NewsPace(LOOKS);
  readonly #looking = new Set<string>();
  /** Those who are to be told. */
  readonly #concerned = new Set<Binding>();
  #agents: ListeningAgents | undefined;
  /** Those who listened when that changed last. */
  #listening: ReadonlySet<Binding> = new Set();
  /** When the next look is. */
  #dueAt: number | undefined;
  #stopLook: (() => void) | undefined;
  #stopTell: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(options: ListNewsOptions) {
    this.#options = options;
  }

  /** From now on these are told. */
  listenFor(agents: ListeningAgents): void {
    this.#stopListening?.();
    this.#agents = agents;
    this.#stopListening = agents.onChange(() => this.#meet());
    this.#meet();
  }

  /** A binding asks for its list now. The returned function says what it is given; what comes between is no part of that. */
  giving(binding: Binding): (view: View) => void {
    const since = this.#pending.seen;
    return (view) => {
      this.#given.note(binding, view, since);
      // It may have been told of what came since, and was given what there was before.
      if (this.#listening.has(binding)) this.#lookSince(since);
    };
  }

  /** Something about a connector of the scope changed, or may have. */
  note(scope: string, connectorKey: string, isCertain: boolean): void {
    this.#pending.remember(scope, connectorKey);
    if (this.#agents === undefined || this.#agents.bindings(this.#options.kind).size === 0) return;
    this.#add(connectorKey, { scopes: new Set([scope]), isCertain, looks: 0 }, GATHER_MS);
  }

  /** Tells nobody any more. */
  close(): void {
    this.#agents = undefined;
    for (const stop of [this.#stopLook, this.#stopTell, this.#stopListening]) stop?.();
    this.#pending.clear();
  }

  /** Of those who begin to listen, what they were given before is compared with what came since. */
  #meet(): void {
    const before = this.#listening;
    this.#listening = this.#agents?.bindings(this.#options.kind) ?? new Set();
    for (const binding of this.#listening) {
      const since = before.has(binding) ? undefined : this.#given.of(binding)?.since;
      if (since !== undefined) this.#lookSince(since);
    }
  }

  #lookSince(seen: number): void {
    for (const [connectorKey, scopes] of this.#pending.since(seen)) {
      this.#add(connectorKey, { scopes: new Set(scopes), isCertain: false, looks: 0 }, GATHER_MS);
    }
  }

  #add(connectorKey: string, news: News, waitMs: number): void {
    const now = this.#options.clock.now();
    const askingMs = this.#options.isKnown(connectorKey) ? 0 : this.#looks.waitMs(connectorKey, now);
    const paceMs = Math.max(this.#tellings.waitMs(connectorKey, now), askingMs);
    const dueAt = now + Math.max(waitMs, paceMs);
    this.#pending.add(connectorKey, news, dueAt);
    if (this.#dueAt === undefined || dueAt < this.#dueAt) this.#schedule();
  }

  #schedule(): void {
    this.#stopLook?.();
    this.#dueAt = undefined;
    if (this.#agents === undefined || this.#looking.size >= LOOKS_AT_ONCE) return;
    this.#dueAt = this.#pending.dueAt(this.#looking);
    if (this.#dueAt === undefined) return;
    const { clock } = this.#options;
    this.#stopLook = clock.schedule(Math.max(0, this.#dueAt - clock.now()), () => {
      for (const [connectorKey, news] of this.#pending.take(clock.now(), this.#looking, LOOKS_AT_ONCE)) {
        this.#looking.add(connectorKey);
        void this.#look(connectorKey, news);
      }
      this.#schedule();
    });
  }

  async #look(connectorKey: string, { scopes, isCertain, looks }: News): Promise<void> {
    const { clock, isKnown, kind } = this.#options;
    const followers = Array.from(this.#agents?.bindings(kind) ?? []).filter((binding) =>
      this.#follows(binding, scopes),
    );
    if (followers.length > 0 && !isKnown(connectorKey)) this.#looks.spend(connectorKey, clock.now());
    let isTold = false;
    const concern = (binding: Binding): void => {
      isTold = true;
      this.#concerned.add(binding);
    };
    for (const binding of followers) if (isCertain && this.#given.of(binding) === undefined) concern(binding);
    try {
      for (const binding of followers) {
        if (!this.#concerned.has(binding) && (await this.#differs(binding, connectorKey))) concern(binding);
      }
    } catch {
      // It is known of nobody now. Those who have nothing to compare were told.
      if (looks + 1 < TRIES) this.#add(connectorKey, { scopes, isCertain: false, looks: looks + 1 }, AGAIN_MS);
    }
    if (isTold) this.#tellings.spend(connectorKey, clock.now());
    this.#looking.delete(connectorKey);
    this.#tellSoon();
    this.#schedule();
  }

  #follows(binding: Binding, scopes: ReadonlySet<string>): boolean {
    const { reach } = this.#options;
    return (reach.followedBy?.(binding) ?? reach.scopesOf(binding)).some((scope) => scopes.has(scope));
  }

  async #differs(binding: Binding, connectorKey: string): Promise<boolean> {
    const { differs, reach } = this.#options;
    for (;;) {
      const given = this.#given.of(binding);
      if (given === undefined) return false;
      const isOther = await differs(reach.scopesOf(binding), connectorKey, digestIn(given.view, connectorKey), binding);
      // What it was given meanwhile is what counts.
      if (!isOther || this.#given.of(binding) === given) return isOther;
    }
  }

  /** When all was looked at, or a moment after something was found: what one step changed is told as one. */
  #tellSoon(): void {
    if (this.#concerned.size === 0 || this.#agents === undefined) return;
    if (this.#looking.size === 0) this.#tell();
    else this.#stopTell ??= this.#options.clock.schedule(GATHER_MS, () => this.#tell());
  }

  #tell(): void {
    this.#stopTell?.();
    this.#stopTell = undefined;
    const concerned = new Set(this.#concerned);
    this.#concerned.clear();
    this.#agents?.tell(this.#options.kind, (binding) => concerned.has(binding));
  }
}
