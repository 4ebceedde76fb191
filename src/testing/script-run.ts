import { RemoteConnectorError } from "../errors.js";
import type { Answer } from "./answer.js";
import { describeExpected, describeRequest, findMismatch } from "./match-request.js";
import type { ReceivedRequest } from "./received-request.js";
import type { ExpectedExchange, Handler, Script } from "./script.js";

/** Whether a script's exchanges come in their order, or in any. */
export type ScriptOrder = "strict" | "any";

interface Expectation {
  readonly exchange: ExpectedExchange;
  readonly atLeast: number;
  readonly atMost: number;
  count: number;
}

/** Violations that are told one by one; the rest is a number. */
const VIOLATIONS_KEPT = 50;

/** A script as it goes: which exchanges came, and what came that was not expected. */
export class ScriptRun {
  readonly #handler: Handler | undefined;
  readonly #expectations: readonly Expectation[];
  readonly #order: ScriptOrder;
  readonly #unexpected: string[] = [];
  #unexpectedCount = 0;
  /** The first expectation that may still match, in strict order. */
  #current = 0;

  constructor(script: Script, order: ScriptOrder) {
    this.#handler = typeof script === "function" ? script : undefined;
    this.#expectations = typeof script === "function" ? [] : script.map(toExpectation);
    this.#order = order;
  }

  /** What answers the request. `undefined` for one that nothing expects, which is remembered. */
  match(request: ReceivedRequest): Answer | Handler | undefined {
    if (this.#handler !== undefined) return this.#handler;
    const found = this.#order === "any" ? this.#matchAny(request) : this.#matchNext(request);
    if (found === undefined) return undefined;
    found.count += 1;
    return found.exchange.answer;
  }

  /** Remembers that something was not as the script has it. */
  report(violation: string): void {
    this.#unexpectedCount += 1;
    if (this.#unexpected.length < VIOLATIONS_KEPT) this.#unexpected.push(violation);
  }

  /** Throws `script_violated` when something unexpected came or something expected did not. */
  verify(): void {
    const missing = this.#expectations.flatMap(({ exchange, atLeast, count }) =>
      count >= atLeast ? [] : [`${describeExpected(exchange)}: ${String(count)} of ${String(atLeast)}`],
    );
    if (this.#unexpectedCount === 0 && missing.length === 0) return;
    const lines = [
      ...this.#unexpected.map((each) => `unexpected: ${each}`),
      ...missing.map((each) => `missing: ${each}`),
    ];
    throw new RemoteConnectorError("script_violated", {
      message: `The requests were not those of the script.\n${lines.join("\n")}`,
      details: { unexpected: [...this.#unexpected], unexpectedCount: this.#unexpectedCount, missing },
    });
  }

  #matchNext(request: ReceivedRequest): Expectation | undefined {
    let why = "nothing more was expected";
    for (let i = this.#current; i < this.#expectations.length; i += 1) {
      const each = this.#expectations[i];
      if (each === undefined) break;
      if (each.count < each.atMost) {
        const mismatch = findMismatch(each.exchange, request);
        if (mismatch === undefined) {
          this.#current = i;
          return each;
        }
        why = `${describeExpected(each.exchange)} was next; ${mismatch} differs`;
      }
      if (each.count < each.atLeast) break;
    }
    this.report(`${describeRequest(request)}: ${why}`);
    return undefined;
  }

  #matchAny(request: ReceivedRequest): Expectation | undefined {
    const found = this.#expectations.find(
      ({ exchange, count, atMost }) => count < atMost && findMismatch(exchange, request) === undefined,
    );
    if (found === undefined) this.report(`${describeRequest(request)}: no exchange that is left fits`);
    return found;
  }
}

function toExpectation(exchange: ExpectedExchange): Expectation {
  const times = exchange.times ?? 1;
  const { atLeast, atMost } = typeof times === "number" ? { atLeast: times, atMost: times } : times;
  return { exchange, atLeast, atMost, count: 0 };
}
