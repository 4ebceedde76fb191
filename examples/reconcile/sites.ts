import { randomUUID } from "node:crypto";
import { type Clock, Controller, type Outcome, type RouteToken, type RunContext } from "remote-connector/reconcile";
import { createMemoryStore, type StoreTx } from "remote-connector/store";

/** A web server that serves one text. */
export interface Site {
  readonly url: string;
  /** Resolves when it is gone, whoever ended it. */
  readonly gone: Promise<void>;
  close(): void;
}

/** What the machine does for {@link Sites}. */
export interface SitesOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly open: (text: string) => Promise<Site>;
}

const SCOPE = "sites";

/** Keeps one web server running for each name. A key is a name; its identity is the text that is to be served. */
export class Sites {
  /** The facts. An application has them in the same store, and changes them in the transaction that plans. */
  readonly #wanted = new Map<string, string>();
  readonly #open = new Map<string, { readonly token: RouteToken; readonly site: Site }>();
  readonly #fencedAt = new Map<string, number>();
  readonly #store = createMemoryStore();
  readonly controller: Controller<StoreTx, string>;

  constructor({ clock, random, open }: SitesOptions) {
    this.controller = new Controller({
      store: this.#store,
      clock,
      random,
      mintEpoch: randomUUID,
      planner: {
        keys: async () => [...this.#wanted.keys()],
        facts: async (_tx, _scope, name) => this.#wanted.get(name),
        plan: (text) => ({ enabled: true, identity: text, transition: "supersede" }),
      },
      routes: {
        fence: (_scope, name, generation) => this.#fence(name, generation),
        holds: (_scope, name, generation) => this.#open.get(name)?.token.generation === generation,
      },
      reconciler: {
        reconcile: (context) => this.#reconcile(context, open),
        classifyFault: () => ({ counts: true }),
      },
    });
  }

  start(): void {
    this.controller.activateScope(SCOPE);
  }

  /** From now on the site should serve this text; without one it should not be there. */
  async set(name: string, text: string | undefined): Promise<void> {
    await this.#store.write(async (tx) => {
      if (text === undefined) this.#wanted.delete(name);
      else this.#wanted.set(name, text);
      await this.controller.planInTx(tx, SCOPE, [name]);
    });
  }

  url(name: string): string | undefined {
    return this.#open.get(name)?.site.url;
  }

  async close(): Promise<void> {
    await this.controller.close();
    for (const name of this.#open.keys()) this.#end(name, Infinity);
    await this.#store.close();
  }

  /** Called again after anything that went wrong: it looks at what is there first. */
  async #reconcile(context: RunContext, open: SitesOptions["open"]): Promise<Outcome> {
    const { key, generation, enabled, identity } = context;
    if (!enabled) this.#end(key, generation);
    else if (this.#open.get(key)?.token.generation !== generation) {
      const opening = open(identity);
      try {
        const site = await context.waiting(opening);
        this.#publish(context, site);
      } catch (error) {
        // The run was told to end, and the site may come up all the same.
        opening.then((site) => site.close()).catch(() => undefined);
        throw error;
      }
    }
    return { kind: "done", readiness: "ready" };
  }

  #publish(token: RouteToken, site: Site): void {
    if (token.generation <= (this.#fencedAt.get(token.key) ?? 0)) throw new Error("fenced");
    this.#end(token.key, token.generation);
    this.#open.set(token.key, { token, site });
    void site.gone.then(() => {
      if (this.#open.get(token.key)?.site !== site) return;
      this.#open.delete(token.key);
      this.controller.exited(token, new Error("The site is gone."));
    });
  }

  #fence(name: string, generation: number): void {
    this.#fencedAt.set(name, generation);
    this.#end(name, generation);
  }

  /** A late run takes nothing newer away. */
  #end(name: string, generation: number): void {
    const current = this.#open.get(name);
    if (current === undefined || current.token.generation > generation) return;
    this.#open.delete(name);
    current.site.close();
  }
}
