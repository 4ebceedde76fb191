import { describe, expect, it } from "vitest";
import { type ServerRequestAnswerer, ServerRequests } from "../../../src/legacy-client/server-requests.js";

/** Whoever answers when the test says so. */
class Desk {
  readonly sent: unknown[] = [];
  readonly serving: boolean[] = [];
  readonly signals: AbortSignal[] = [];
  readonly requests: ServerRequests;
  #settle: ((answer: object) => void) | undefined;

  constructor(answerer: ServerRequestAnswerer | undefined) {
    this.requests = new ServerRequests(
      {
        sendResponse: (text) => this.sent.push(JSON.parse(text)),
        onServing: (isServing) => this.serving.push(isServing),
        serverInfo: () => ({ name: "s", version: "1" }),
      },
      answerer,
    );
  }

  static waiting(): Desk {
    const desk: Desk = new Desk((_request, { signal }) => {
      desk.signals.push(signal);
      return new Promise((resolve) => {
        desk.#settle = (result) => resolve({ result: { ...result } });
      });
    });
    return desk;
  }

  async settle(result: object): Promise<void> {
    this.#settle?.(result);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const roots = (id: string | number) => ({ id, method: "roots/list", params: {} });

describe("ServerRequests", () => {
  it.each([0, "", "a", 7])("L-6: answers a ping with id %j, whoever answers the rest", (id) => {
    const desk = Desk.waiting();
    desk.requests.receive({ id, method: "ping", params: undefined });
    expect(desk.sent).toEqual([{ jsonrpc: "2.0", id, result: {} }]);
    expect(desk.serving).toEqual([]);
  });

  it.each(["roots/list", "sampling/createMessage", "elicitation/create", "other"])(
    "L-6: does not know %s without an answerer",
    (method) => {
      const desk = new Desk(undefined);
      desk.requests.receive({ id: 1, method, params: {} });
      expect(desk.sent).toMatchObject([{ id: 1, error: { code: -32601 } }]);
    },
  );

  it("L-6: sends what the answerer gives, and tells how long it took", async () => {
    const desk = Desk.waiting();
    desk.requests.receive(roots(0));
    desk.requests.receive(roots(0));
    expect([desk.sent, desk.serving, desk.requests.isServing]).toEqual([[], [true], true]);
    await desk.settle({ roots: [] });
    expect(desk.sent).toEqual([{ jsonrpc: "2.0", id: 0, result: { roots: [] } }]);
    expect([desk.serving, desk.signals.length]).toEqual([[true, false], 1]);
  });

  it("L-6: the server's cancellation ends the answerer and its answer, of this very id", async () => {
    const desk = Desk.waiting();
    desk.requests.receive(roots("1"));
    desk.requests.cancel({ requestId: 1 });
    expect(desk.signals[0]?.aborted).toBe(false);
    desk.requests.cancel({ requestId: "1" });
    expect(desk.signals[0]?.aborted).toBe(true);
    await desk.settle({});
    expect([desk.sent, desk.serving]).toEqual([[], [true, false]]);
  });

  it("L-6: answers nothing any more when the conversation is over", async () => {
    const desk = Desk.waiting();
    desk.requests.receive(roots(1));
    desk.requests.cancelAll();
    await desk.settle({});
    expect([desk.sent, desk.signals[0]?.aborted, desk.serving]).toEqual([[], true, [true, false]]);
  });

  it.each<[string, ServerRequestAnswerer]>([
    ["throws", () => Promise.reject(new Error("secret"))],
    ["gives what is no JSON", () => Promise.resolve({ result: { n: 1n } })],
  ])("L-6: an answerer that %s is an internal error, of which nothing is shown", async (_what, answerer) => {
    const desk = new Desk(answerer);
    desk.requests.receive(roots(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(desk.sent).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } }]);
  });
});
