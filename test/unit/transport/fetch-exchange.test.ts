import { describe, expect, it } from "vitest";
import {
  createFetchExchange,
  type Exchange,
  type ExchangeControl,
  type ExchangeHandler,
  type ExchangeRequest,
  type FetchFunction,
} from "../../../src/transport/index.js";
import { settle } from "../../support/fake-clock.js";

/** Writes down what it is told, and aborts where it is asked to. */
class Seen implements ExchangeHandler {
  readonly log: unknown[] = [];
  readonly #abortAt: string | undefined;

  constructor(abortAt?: string) {
    this.#abortAt = abortAt;
  }

  onRequestStart(control: ExchangeControl): void {
    this.#note("start", control);
  }
  onResponseStart(control: ExchangeControl, status: number, headers: object): void {
    this.log.push(status, headers);
    this.#note("head", control);
  }
  onResponseData(control: ExchangeControl, chunk: Uint8Array): void {
    this.#note(`data ${Buffer.from(chunk).toString()}`, control);
  }
  onResponseEnd(control: ExchangeControl): void {
    this.#note("end", control);
  }
  onResponseError(_control: ExchangeControl, error: Error, notSent?: boolean): void {
    this.log.push("error", error.message, notSent === true);
  }

  #note(what: string, control: ExchangeControl): void {
    this.log.push(what);
    if (what !== this.#abortAt) return;
    control.abort(new Error("enough"));
    control.abort(new Error("twice"));
  }
}

const post: ExchangeRequest = {
  method: "POST",
  path: "/mcp?a=1",
  headers: ["A", "b", "Content-Type", "x/y"],
  body: "{}",
};

/** A body that tells when it is cancelled. */
function bodyOf(pieces: readonly string[], ends: boolean) {
  const state = { cancelled: false };
  const queue = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = queue.shift();
      if (piece !== undefined) controller.enqueue(Buffer.from(piece));
      else if (ends) controller.close();
      else return new Promise(() => undefined);
      return undefined;
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { body, state };
}

async function exchangeWith(fetch: FetchFunction, abortAt?: string): Promise<{ seen: Seen; exchange: Exchange }> {
  const exchange = createFetchExchange({ origin: "https://h.test", fetch });
  const seen = new Seen(abortAt);
  exchange.dispatch(post, seen);
  await settle();
  return { seen, exchange };
}

describe("the exchange over fetch", () => {
  it("F-20: asks for exactly what it is given, without redirects, compression and ambient credentials", async () => {
    const asked: unknown[] = [];
    const { seen } = await exchangeWith((url, { signal, ...init }) => {
      asked.push(url, init, signal?.aborted);
      return Promise.resolve(new Response(null, { status: 202 }));
    });
    expect(asked).toEqual([
      "https://h.test/mcp?a=1",
      {
        method: "POST",
        headers: [
          ["A", "b"],
          ["Content-Type", "x/y"],
          ["Accept-Encoding", "identity"],
        ],
        body: "{}",
        redirect: "manual",
        credentials: "omit",
      },
      false,
    ]);
    expect(seen.log).toEqual(["start", 202, {}, "head", "end"]);
  });

  it("F-20: globalThis.fetch is read at each request", async () => {
    const exchange = createFetchExchange({ origin: "https://h.test" });
    const original = globalThis.fetch;
    const seen = new Seen();
    try {
      globalThis.fetch = () => Promise.resolve(new Response("late"));
      exchange.dispatch(post, seen);
      await settle();
    } finally {
      globalThis.fetch = original;
    }
    expect(seen.log).toContain("data late");
  });

  it("F-20: hands pieces on as they come, and every cookie", async () => {
    const headers = new Headers([
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
      ["Set-Cookie", "c=3"],
      ["X", "1"],
    ]);
    const { seen } = await exchangeWith(() =>
      Promise.resolve(new Response(bodyOf(["one", "two"], true).body, { headers })),
    );
    const all = { "set-cookie": ["a=1", "b=2", "c=3"], x: "1" };
    expect(seen.log).toEqual(["start", 200, all, "head", "data one", "data two", "end"]);
  });

  it.each([
    ["gzip", false],
    ["x-gzip, BR", false],
    ["zstd", true],
    ["gzip, zstd", true],
  ])("F-20: the coding %s is named afterwards: %s", async (coding, named) => {
    const headers = { "Content-Encoding": coding, "Content-Length": "9" };
    const { seen } = await exchangeWith(() => Promise.resolve(new Response("x", { headers })));
    expect(Object.keys(Object(seen.log[2])).includes("content-encoding")).toBe(named);
  });

  it("H-14: an abort at the start calls no fetch", async () => {
    let called = false;
    const { seen } = await exchangeWith(() => {
      called = true;
      return Promise.resolve(new Response());
    }, "start");
    expect(called).toBe(false);
    expect(seen.log).toEqual(["start", "error", "enough", false]);
  });

  it.each([
    ["head", ["start", 200, {}, "head", "error", "enough", false]],
    ["data one", ["start", 200, {}, "head", "data one", "error", "enough", false]],
  ])("F-8: an abort at %s is told once, and cancels a body whose fetch heeds no signal", async (at, log) => {
    const { body, state } = bodyOf(["one", "two"], false);
    const response = new Response(body);
    const { seen } = await exchangeWith(() => Promise.resolve(response), at);
    expect(seen.log).toEqual(log);
    expect(state.cancelled).toBe(true);
    expect(body.locked).toBe(false);
  });

  it("F-8: destroy ends what waits for a fetch that never answers; a late answer is dropped", async () => {
    let answer: ((response: Response) => void) | undefined;
    let signal: AbortSignal | null | undefined;
    const { seen, exchange } = await exchangeWith((_, init) => {
      signal = init.signal;
      return new Promise((resolve) => (answer = resolve));
    });
    await exchange.destroy();
    await exchange.destroy();
    const { body, state } = bodyOf(["late"], false);
    answer?.(new Response(body));
    await settle();
    expect(seen.log).toEqual(["start", "error", "The exchange is destroyed.", false]);
    expect(signal?.aborted).toBe(true);
    expect(state.cancelled).toBe(true);
    const after = new Seen();
    exchange.dispatch(post, after);
    await settle();
    expect(after.log).toEqual(["error", "The exchange is destroyed.", false]);
  });

  it.each<[string, FetchFunction, readonly unknown[]]>([
    ["rejects", () => Promise.reject(new TypeError("fetch failed")), ["fetch failed", false]],
    [
      "throws at once",
      () => {
        throw new Error("broken");
      },
      ["broken", false],
    ],
    ["rejects with a primitive", () => Promise.reject(7), ["fetch failed with what is no error.", false]],
    [
      "was refused the connection",
      () => {
        const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
        return Promise.reject(new TypeError("fetch failed", { cause }));
      },
      ["refused", true],
    ],
    [
      "hides a redirect",
      () => Promise.resolve(Response.error()),
      ["The answer is hidden by fetch; it is probably a redirect.", false],
    ],
  ])("F-1: a fetch that %s is one error, and proves only what its code proves", async (_, fetch, error) => {
    const { seen } = await exchangeWith(fetch);
    expect(seen.log).toEqual(["start", "error", ...error]);
  });

  it("F-1: a code that proves a failed connection proves nothing once the head was there", async () => {
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(cause) });
    const { seen } = await exchangeWith(() => Promise.resolve(new Response(body)));
    expect(seen.log.slice(-3)).toEqual(["error", "refused", false]);
  });
});
