import type { Clock } from "../../transport/index.js";
import type { Binding, ListKind } from "../local-server/index.js";
import { digestIn, GivenViews, type View } from "./given-views.js";
import type { Reach } from "./ports.js";
import { mapLimited } from "./map-limited.js";

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
  /**
   * Whether those who reach the scopes would now get another part of this connector than the one with this digest, `""` being none. What
   * can't be known at the moment is no difference. Must not reject.
   */
  readonly differs: (scopes: readonly string[], connectorKey: string, digest: string) => Promise<boolean>;
}

/** Something about a connector of a scope. */
interface News {
  readonly scopes: Set<string>;
  /** Something did change; otherwise it is only possible. */
  isCertain: boolean;
}

interface Reader {
  readonly binding: Binding;
  readonly followed: readonly string[];
  readonly view: View | undefined;
}

/** News within that time are looked at together. */
const GATHER_MS = 20;
/** Connectors that are looked at at once. */
const LOOKS_AT_ONCE = 32;

/**
 * Tells listening agents that a list of theirs changed, when it did: what each would get is compared with what it was given. Of a
 * connector that may have changed only its own part is read, once for all, and those of whom it is known already are not
 * asked about again. An agent that was never given a list has nothing to compare: it is told whenever something did change.
 */
export class ListNews {
  readonly #options: ListNewsOptions;
  readonly #given = new GivenViews();
  #agents: ListeningAgents | undefined;
  /** By connector key, since they were last looked at. */
  #news = new Map<string, News>();
  #isLooking = false;
  #stop: (() => void) | undefined;

  constructor(options: ListNewsOptions) {
    this.#options = options;
  }

  /** From now on these are told. */
  listenFor(agents: ListeningAgents): void {
    this.#agents = agents;
  }

  /** What a binding is given now. */
  given(binding: Binding, view: View): void {
    this.#given.note(binding, view);
  }

  /** Something about a connector of the scope changed, or may have. */
  note(scope: string, connectorKey: string, isCertain: boolean): void {
    if (this.#agents === undefined || this.#agents.bindings(this.#options.kind).size === 0) return;
    const news = this.#news.get(connectorKey) ?? { scopes: new Set<string>(), isCertain: false };
    news.scopes.add(scope);
    news.isCertain ||= isCertain;
    this.#news.set(connectorKey, news);
    this.#schedule();
  }

  /** Tells nobody any more. */
  close(): void {
    this.#agents = undefined;
    this.#stop?.();
    this.#stop = undefined;
    this.#news.clear();
  }

  #schedule(): void {
    if (this.#isLooking || this.#stop !== undefined || this.#news.size === 0) return;
    this.#stop = this.#options.clock.schedule(GATHER_MS, () => {
      this.#stop = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const news = [...this.#news];
    this.#news = new Map();
    const { kind, reach } = this.#options;
    const readers = Array.from(this.#agents?.bindings(kind) ?? [], (binding) => ({
      binding,
      followed: reach.followedBy?.(binding) ?? reach.scopesOf(binding),
      view: this.#given.of(binding),
    }));
    const concerned = new Set<Binding>();
    await mapLimited(news, LOOKS_AT_ONCE, ([connectorKey, about]) =>
      this.#lookAt(connectorKey, about, readers, concerned),
    );
    this.#isLooking = false;
    if (concerned.size > 0) this.#agents?.tell(kind, (binding) => concerned.has(binding));
    this.#schedule();
  }

  async #lookAt(
    connectorKey: string,
    { scopes, isCertain }: News,
    readers: readonly Reader[],
    concerned: Set<Binding>,
  ): Promise<void> {
    const { differs, reach } = this.#options;
    for (const { binding, followed, view } of readers) {
      if (concerned.has(binding) || !followed.some((scope) => scopes.has(scope))) continue;
      const isTold =
        view === undefined
          ? isCertain
          : await differs(reach.scopesOf(binding), connectorKey, digestIn(view, connectorKey));
      if (isTold) concerned.add(binding);
    }
  }
}
