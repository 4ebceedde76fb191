import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { EXCHANGE_CHANNELS } from "../../../src/transport/index.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawAnswerer } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

type Told = Record<string, unknown>;

/** Everything that is told from now on: the last word of the channel's name, and the payload. */
function listen(onEvent?: (what: string) => void): (readonly [what: string, payload: Told])[] {
  const told: (readonly [string, Told])[] = [];
  for (const [what, name] of Object.entries(EXCHANGE_CHANNELS)) {
    const listener = (message: unknown): void => {
      told.push([what, Object(message)]);
      onEvent?.(what);
    };
    subscribe(name, listener);
    opened.push({ close: () => unsubscribe(name, listener) });
  }
  return told;
}

const call = { name: "t" };
const contract = { parameters: [] };
const ok: RawAnswerer = (request) =>
  void request.socket.write(httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`));

describe.each(EXCHANGES)("F-19: events of exchanges over $name", ({ create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it("an answered call is told from beginning to end, without secrets", async () => {
    const server = await serve(ok);
    const told = listen();
    const client = connect(`${server.url}?key=secret`, { headers: { Authorization: "Bearer secret" } });
    await client.callTool({ name: "t", arguments: { a: "secret" } }, { contract });
    const exchange = told[0]?.[1]["exchange"];
    expect(told).toEqual([
      [
        "connect",
        {
          exchange: expect.any(Number),
          url: `${server.url}?key=…`,
          method: "POST",
          operation: "tools/call",
          attempt: 1,
          redirects: 0,
        },
      ],
      ["sent", { exchange }],
      ["head", { exchange, status: 200, mediaType: "application/json" }],
      ["end", { exchange, outcome: "answered", messages: 0, elapsedMs: expect.any(Number) }],
    ]);
    expect(JSON.stringify(told)).not.toContain("secret");
  });

  it("each hop of a redirect, each attempt and each end is told with what is known", async () => {
    const server = await serve((request) => {
      const path = request.head.split(" ")[1];
      if (path === "/mcp" && server.requests.length === 1)
        request.socket.write(httpAnswer("", { status: 307, headers: "Location: /moved\r\n" }));
      else if (path === "/moved") ok(request);
      else if (server.requests.length === 3) request.socket.end();
    });
    const told = listen();
    const client = connect(server.url);
    await client.callTool(call, { contract });
    await client.callTool(call, { contract }).catch(() => undefined);
    const aborting = new AbortController();
    const aborted = client.callTool(call, { contract, signal: aborting.signal }).catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(4);
    aborting.abort();
    await aborted;
    await client.callTool(call, { contract, admit: () => "no" }).catch(() => undefined);
    const ends = told
      .filter(([what]) => what === "end")
      .map(([, { outcome, code, delivery }]) => [outcome, code, delivery]);
    expect(ends).toEqual([
      ["redirected", undefined, undefined],
      ["answered", undefined, undefined],
      ["failed", "connection_broken", "unknown"],
      ["aborted", undefined, "unknown"],
      ["failed", "not_admitted", "not_sent"],
    ]);
    const connects = told.filter(([what]) => what === "connect").map(([, { redirects }]) => redirects);
    expect(connects).toEqual([0, 1, 0, 0, 0]);
    const numbers = new Set(told.map(([, { exchange }]) => exchange));
    expect(numbers.size).toBe(5);
  });

  it("a stream is over for its owner with the response, once", async () => {
    const server = await serve((request) => {
      const event = (message: string): string => `data: {"jsonrpc":"2.0",${message}}\n\n`;
      const progress = `"method":"notifications/progress","params":{"progressToken":${String(idOf(request))},"progress":1}`;
      const result = `"id":${String(idOf(request))},"result":{"content":[]}`;
      request.socket.write(httpAnswer(event(progress) + event(result), { type: "text/event-stream" }));
    });
    const told = listen();
    const client = connect(server.url);
    await client.callTool(call, { contract });
    await client.close();
    expect(told.filter(([what]) => what === "end")).toMatchObject([["end", { outcome: "answered", messages: 2 }]]);
  });

  it.each(["connect", "sent", "head"])("whoever closes the client on %s has ended the call, once", async (at) => {
    const server = await serve(ok);
    const client = connect(server.url);
    const told = listen((what) => {
      if (what === at) void client.close();
    });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "cancelled",
      delivery: at === "connect" ? "not_sent" : "unknown",
    });
    expect(told.filter(([what]) => what === "end")).toMatchObject([["end", { outcome: "failed", code: "cancelled" }]]);
    expect(server.requests.length).toBeLessThanOrEqual(at === "connect" ? 0 : 1);
  });

  it("who listens late hears nothing of what has begun", async () => {
    let arrived: (() => void) | undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    let answer: (() => void) | undefined;
    const server = await serve((request) => {
      answer = () => ok(request);
      arrived?.();
    });
    const promise = connect(server.url).callTool(call, { contract });
    await arrival;
    const told = listen();
    answer?.();
    await promise;
    expect(told).toEqual([]);
  });
});
