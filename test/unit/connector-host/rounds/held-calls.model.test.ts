import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import type { Round } from "../../../../src/connector-host/rounds/index.js";
import { askedIn, bindingOf, HeldParty, type ScriptedCall, type Watched } from "./held-party.js";

const PER_BINDING = 2;
const IN_ALL = 3;
const WAITING = 2;
const WAIT_MS = 1_000;

/** A state that an agent was given, and what is known to have gone on with it. */
interface Given {
  readonly state: string;
  readonly keys: readonly string[];
  readonly of: Flight;
  wins: number;
}

interface Flight {
  readonly binding: Binding;
  readonly digest: string;
  readonly call: ScriptedCall;
  readonly rounds: { readonly round: Watched<Round<string>>; readonly request: AbortController }[];
  /** What the agent said to each ask, by its key, before anything else settled it. */
  readonly said: Map<string, number>;
}

type Step =
  | { readonly kind: "begin"; readonly binding: number }
  | { readonly kind: "ask" | "finish" | "fail" | "revoke" | "leave" | "withdraw"; readonly flight: number }
  | {
      readonly kind: "retry";
      readonly given: number;
      readonly other: "nothing" | "binding" | "digest";
      readonly answered: number;
    }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "end_binding"; readonly binding: number };

const anyPlace = fc.nat(20);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("begin" as const), binding: fc.nat(1) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("ask" as const), flight: anyPlace }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "finish" as const,
        "fail" as const,
        "revoke" as const,
        "leave" as const,
        "withdraw" as const,
      ),
      flight: anyPlace,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("retry" as const),
      given: anyPlace,
      other: fc.constantFrom(
        "nothing" as const,
        "nothing" as const,
        "nothing" as const,
        "binding" as const,
        "digest" as const,
      ),
      answered: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(0, 400, WAIT_MS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end_binding" as const), binding: fc.nat(1) }) },
);

class World {
  readonly party = new HeldParty({
    maxHeldCallsPerBinding: PER_BINDING,
    maxHeldCalls: IN_ALL,
    maxWaitingAsks: WAITING,
    heldCallTimeoutMs: WAIT_MS,
  });
  readonly bindings = [bindingOf("a"), bindingOf("b")];
  readonly flights: Flight[] = [];
  readonly given: Given[] = [];

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "begin":
        this.#begin(step.binding);
        break;
      case "retry":
        await this.#retry(step);
        break;
      case "pass":
        await this.party.clock.advance(step.ms);
        break;
      case "end_binding":
        this.party.calls.endBinding(this.#binding(step.binding));
        break;
      case "ask":
      case "finish":
      case "fail":
      case "revoke":
      case "leave":
      case "withdraw":
        this.#act(step.kind, step.flight);
        break;
    }
    await this.party.clock.advance(0);
    this.#collect();
  }

  #binding(place: number): Binding {
    const binding = this.bindings[place % this.bindings.length];
    if (binding === undefined) throw new Error("no binding");
    return binding;
  }

  #begin(at: number): void {
    const binding = this.#binding(at);
    const digest = `d${String(this.flights.length)}`;
    const request = new AbortController();
    const { call, round } = this.party.begin(binding, digest, request);
    this.flights.push({ binding, digest, call, rounds: [{ round, request }], said: new Map() });
  }

  #act(kind: "ask" | "finish" | "fail" | "revoke" | "leave" | "withdraw", at: number): void {
    const flight = this.flights[at % Math.max(1, this.flights.length)];
    if (flight?.call.upstream === undefined) return;
    const { call, rounds } = flight;
    switch (kind) {
      case "ask":
        call.ask();
        break;
      case "finish":
        call.finish("done");
        break;
      case "fail":
        call.fail(new Error("no"));
        break;
      case "revoke":
        call.upstream?.abort(new Error("revoked"));
        break;
      case "leave":
        rounds.at(-1)?.request.abort(new Error("left"));
        break;
      case "withdraw":
        call.asks.at(-1)?.withdrawal.abort();
        break;
    }
  }

  /** What must come of it is known before: the newest state of a call that waits goes on with it, and no other does. */
  async #retry({ given: at, other, answered }: Step & { readonly kind: "retry" }): Promise<void> {
    const given = this.given[at % Math.max(1, this.given.length)];
    if (given === undefined) return;
    const { of: flight, keys, state } = given;
    const binding = other === "binding" ? bindingOf(flight.binding.agentSessionId) : flight.binding;
    const digest = other === "digest" ? "another" : flight.digest;
    const request = new AbortController();
    const responses = Object.fromEntries(
      keys
        .filter((_key, place) => (answered & (1 << place)) !== 0)
        .map((key) => [key, { action: "accept", of: state }]),
    );
    const open = new Set(
      flight.call.asks.flatMap(({ answer }, place) => (answer.isOver ? [] : [`ask-${String(place + 1)}`])),
    );
    const round = this.party.resume(state, binding, responses, digest, request);
    await this.party.clock.advance(0);
    const isRefused = isRefusal(round.error);
    if (other !== "nothing") expect(isRefused).toBe(true);
    if (isRefused) return;
    given.wins += 1;
    flight.rounds.push({ round, request });
    for (const key of Object.keys(responses)) {
      if (open.has(key)) flight.said.set(key, (flight.said.get(key) ?? 0) + 1);
    }
  }

  /** Notes states that agents were given since, and checks what must always hold. */
  #collect(): void {
    for (const flight of this.flights) {
      const last = flight.rounds.at(-1)?.round;
      if (last?.value?.kind !== "asks") continue;
      const { keys, state } = askedIn(last);
      if (!this.given.some((known) => known.state === state)) this.given.push({ state, keys, of: flight, wins: 0 });
    }
    const { size, running } = this.party.calls;
    expect(size).toBeLessThanOrEqual(IN_ALL);
    expect(running).toBe(this.flights.filter(({ call }) => call.upstream !== undefined && !isEnded(call)).length);
    for (const { wins } of this.given) expect(wins).toBeLessThanOrEqual(1);
    for (const flight of this.flights) {
      for (const count of flight.said.values()) expect(count).toBe(1);
      expect(flight.call.asks.filter(({ answer }) => !answer.isOver).length).toBeLessThanOrEqual(WAITING);
      // At most one request is attached.
      expect(flight.rounds.filter(({ round }) => !round.isOver).length).toBeLessThanOrEqual(1);
      // A call that runs has an agent, or one that is asked and may go on with it.
      const isWaitedFor = flight.rounds.some(({ round }) => !round.isOver);
      if (flight.call.upstream !== undefined && !isEnded(flight.call) && !isWaitedFor) {
        expect(flight.rounds.at(-1)?.round.value?.kind).toBe("asks");
      }
    }
  }

  async end(): Promise<void> {
    await this.party.calls.close();
    await this.party.clock.advance(0);
    expect([this.party.calls.size, this.party.calls.running, this.party.clock.pending]).toEqual([0, 0, 0]);
    for (const { call, rounds } of this.flights) {
      for (const { answer } of call.asks) expect(answer.isOver).toBe(true);
      for (const { withdrawal } of call.asks) expect(getEventListeners(withdrawal.signal, "abort")).toEqual([]);
      for (const { round, request } of rounds) {
        expect(round.isOver).toBe(true);
        expect(getEventListeners(request.signal, "abort")).toEqual([]);
      }
    }
  }
}

const ended = new WeakSet<ScriptedCall>();

function isEnded(call: ScriptedCall): boolean {
  return ended.has(call);
}

function isRefusal(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "code") === "continuation_refused";
}

describe("calls that are held, in any order of events", () => {
  test("H-27, H-16: one request goes on with each state, no ask is answered twice, limits hold, and nothing is left over", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (taken) => {
        const world = new World();
        for (const step of taken) {
          await world.take(step);
          for (const { call } of world.flights) {
            call.over.then(
              () => ended.add(call),
              () => ended.add(call),
            );
          }
        }
        await world.end();
      }),
      { numRuns: 300 },
    );
  });
});
