import fc from "fast-check";
import { expect, it } from "vitest";
import { SharedWalks } from "../../../../src/connector-host/aggregation/shared-walks.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

const BINDINGS = ["ada", "bob"].map((agentSessionId): Binding => ({
  workspaceId: "w",
  agentSessionId,
  invocation: undefined,
  login: undefined,
}));
const BUDGET_MS = 100;

/** A request to the server: it answers with the version that the server had when it was asked, however late. */
interface Asked {
  readonly version: number;
  /** How many times something had been invalidated. */
  readonly mark: number;
  readonly signal: AbortSignal;
  isOver: boolean;
  resolve(version: number): void;
  reject(error: unknown): void;
}

/** A list that was asked for. */
interface Wait {
  readonly leaving: AbortController;
  /** What was invalidated last before it asked. */
  readonly invalidated: number;
  isOver: boolean;
}

/** The walks of one route, the server behind it, and what has to hold whatever happens. */
class Party {
  readonly clock = new FakeClock();
  readonly asked: Asked[] = [];
  readonly waits: Wait[] = [];
  readonly faults: string[] = [];
  readonly misses = new Map<Binding, number>();
  readonly #shared: SharedWalks<number>;
  readonly #route = new Route<RemoteMcpClient>({
    connectorKey: "a",
    scope: "s",
    scopeEpoch: "e",
    generation: 1,
    releaseDigest: "d",
    connectionVersion: 1n,
    // Never asked: what is read here is read by hand.
    client: new ModernStreamableHTTPClient({ endpoint: "http://127.0.0.1:9", clientInfo: { name: "t", version: "1" } }),
    tools: new Map(),
  });
  #version = 0;
  /** The version of the server when something was invalidated last: what is older must not be given to who asks later. */
  #invalidated = 0;
  #mark = 0;
  #wasMissed = false;
  #told = 0;

  constructor() {
    this.#shared = new SharedWalks<number>({
      clock: this.clock,
      read: (_route, signal) => this.#ask(signal),
      onListed: (_route, { listing }) => {
        if (listing < this.#told) this.faults.push(`told ${String(listing)} after ${String(this.#told)}`);
        this.#told = listing;
      },
      onLateFailure: () => undefined,
    });
  }

  list(binding: Binding | undefined): void {
    const leaving = new AbortController();
    const wait: Wait = { leaving, invalidated: this.#invalidated, isOver: false };
    this.waits.push(wait);
    const wasAsked = this.running.length > 0;
    const count = this.asked.length;
    const reader = { binding, signal: leaving.signal, limitMs: BUDGET_MS, option: "listBudgetMs" };
    const listing = this.#shared.list(this.#route, reader);
    if (!wasAsked && this.asked.length === count) this.#isOwed(binding);
    listing.then(
      (version) => {
        wait.isOver = true;
        if (binding !== undefined) this.misses.set(binding, 0);
        if (version < wait.invalidated) this.faults.push(`${String(version)} for ${String(wait.invalidated)}`);
      },
      (error: unknown) => {
        wait.isOver = true;
        const isLate = !leaving.signal.aborted && error !== "down" && error !== "ended";
        if (isLate && binding !== undefined) this.misses.set(binding, (this.misses.get(binding) ?? 0) + 1);
        this.#wasMissed ||= isLate && binding !== undefined;
      },
    );
  }

  answer(asked: Asked): void {
    asked.isOver = true;
    asked.resolve(asked.version);
  }

  /** The server has something else. Whoever is told of it says so at once. */
  change(): void {
    this.#version += 1;
    this.invalidate();
  }

  invalidate(): void {
    this.#invalidated = this.#version;
    this.#mark += 1;
    this.#shared.invalidate(this.#route);
  }

  get running(): readonly Asked[] {
    return this.asked.filter(({ isOver, signal }) => !isOver && !signal.aborted);
  }

  check(): void {
    const { running } = this;
    const valid = this.#shared.valid(this.#route);
    if (valid !== undefined && valid < this.#invalidated) this.faults.push(`${String(valid)} is called valid`);
    if (this.#shared.isOutdated(this.#route) && valid !== undefined) this.faults.push("valid and outdated");
    const isWaited = this.waits.some(({ isOver }) => !isOver);
    if (isWaited && running.length === 0) this.faults.push("somebody waits for nothing");
    for (const { mark } of running) {
      if (running.filter((one) => one.mark === mark).length > 2) this.faults.push("a storm");
    }
  }

  /** All leave, and time passes. */
  async end(): Promise<void> {
    for (const { leaving } of this.waits) leaving.abort("left");
    await settle();
    if (!this.#wasMissed && this.running.length > 0) this.faults.push("it is asked for nobody");
    for (const asked of this.running) this.answer(asked);
    await settle();
    if (this.waits.some(({ isOver }) => !isOver)) this.faults.push("somebody waits still");
    if (this.clock.pending > 0) this.faults.push("a timer is left");
    if (this.#route.inFlight > 0) this.faults.push("the route is in use");
  }

  /** Nobody was asked: then it was kept for this very binding. */
  #isOwed(binding: Binding | undefined): void {
    const misses = binding === undefined ? 0 : (this.misses.get(binding) ?? 0);
    if (binding === undefined || misses === 0) this.faults.push("given without a reason");
    // However often it was late, there is one to be had.
    else this.misses.set(binding, 0);
  }

  #ask(signal: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const asked: Asked = { version: this.#version, mark: this.#mark, signal, isOver: false, resolve, reject };
      this.asked.push(asked);
      const end = () => reject("ended");
      if (signal.aborted) end();
      signal.addEventListener("abort", end);
    });
  }
}

const index = fc.nat({ max: 7 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("list" as const), index: fc.constantFrom(0, 0, 1, 2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("change" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("invalidate" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("answer" as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), index }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(40, 100, 100, 30_000) }),
  },
);

it("H-24, H-25: whatever comes in whatever order, nobody gets what is older than the last invalidation before asking", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: "max" }), async (steps) => {
      const party = new Party();
      for (const one of steps) {
        if (one.kind === "list") party.list(BINDINGS[one.index]);
        else if (one.kind === "leave") party.waits[one.index]?.leaving.abort("left");
        else if (one.kind === "change") party.change();
        else if (one.kind === "invalidate") party.invalidate();
        else if (one.kind === "wait") await party.clock.advance(one.ms);
        else {
          const asked = party.running[one.index % Math.max(1, party.running.length)];
          if (asked !== undefined && one.kind === "answer") party.answer(asked);
          else if (asked !== undefined) {
            asked.isOver = true;
            asked.reject("down");
          }
        }
        await settle();
        party.check();
      }
      await party.end();
      expect(party.faults).toEqual([]);
    }),
    { numRuns: 500, seed: 24 },
  );
});
