import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { createFetchExchange, EXCHANGE_CHANNELS } from "../../../src/transport/index.js";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

const call = { name: "t" };
const contract = { parameters: [] };
const pathOf = (request: RawRequest): string => request.head.split(" ")[1] ?? "";
const answer = (request: RawRequest, headers = "", status = 200): void => {
  const body = `{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`;
  request.socket.write(httpAnswer(status === 200 ? body : "no", { status, headers }));
};
const seen = (requests: readonly RawRequest[]): (string | undefined)[] => requests.map((one) => one.header("cookie"));

describe.each(EXCHANGES)("F-18: cookies over $name", ({ create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it("what any answer sets is sent from then on, by this client alone", async () => {
    const server = await serve((request) => {
      const turn = server.requests.length;
      if (turn === 1) answer(request, "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n");
      else if (turn === 2) answer(request, "Set-Cookie: a=3; Path=/\r\nSet-Cookie: c=4; Path=/elsewhere\r\n", 400);
      else answer(request);
    });
    const client = connect(server.url, { cookies: true });
    await client.callTool(call, { contract });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({ code: "unexpected_answer" });
    await client.callTool(call, { contract });
    await connect(server.url, { cookies: true }).callTool(call, { contract });
    expect(seen(server.requests)).toEqual([undefined, "a=1; b=2", "a=3; b=2", undefined]);
  });

  it("a redirect that is followed sets and gets its own", async () => {
    const server = await serve((request) => {
      if (pathOf(request) === "/deep/moved") answer(request, "Set-Cookie: deep=1\r\n");
      else {
        const cookies = "Set-Cookie: node=7; Path=/deep/moved\r\nSet-Cookie: old=1; Path=/mcp\r\n";
        request.socket.write(httpAnswer("", { status: 307, headers: `Location: /deep/moved\r\n${cookies}` }));
      }
    });
    const client = connect(server.url, { cookies: true });
    await client.callTool(call, { contract });
    await client.callTool(call, { contract });
    expect(seen(server.requests)).toEqual([undefined, "node=7", "old=1", "node=7; deep=1"]);
  });

  it("without the option nothing is kept", async () => {
    const server = await serve((request) => answer(request, "Set-Cookie: a=1\r\n"));
    const client = connect(server.url);
    await client.callTool(call, { contract });
    await client.callTool(call, { contract });
    expect(seen(server.requests)).toEqual([undefined, undefined]);
  });

  it("F-17: a Cookie header beside it is refused, where it is configured and where it is given", async () => {
    const server = await serve((request) => answer(request));
    for (const headers of [{ COOKIE: "a=secret" }, { Cookie: () => "a=secret" }]) {
      expect(() => connect(server.url, { cookies: true, headers })).toThrow(
        expect.objectContaining({ code: "invalid_header", delivery: "not_sent" }),
      );
    }
    const client = connect(server.url, { cookies: true, authorize: () => ({ cookie: "a=secret" }) });
    const error: unknown = await client.callTool(call, { contract }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "invalid_header", delivery: "not_sent" });
    expect(inspect(error, { depth: 9 })).not.toContain("secret");
    expect(server.requests).toHaveLength(0);
    const own = connect(server.url, { headers: { Cookie: "a=1" } });
    await own.callTool(call, { contract });
    expect(seen(server.requests)).toEqual(["a=1"]);
  });

  it("F-6: no value is shown in errors and events", async () => {
    const told: unknown[] = [];
    const listener = (message: unknown): void => void told.push(message);
    for (const name of Object.values(EXCHANGE_CHANNELS)) {
      subscribe(name, listener);
      opened.push({ close: () => unsubscribe(name, listener) });
    }
    const endings: ((request: RawRequest) => void)[] = [
      (request) => answer(request, "Set-Cookie: a=secret\r\n"),
      (request) => answer(request, "Set-Cookie: a=secret\r\n", 500),
      (request) => answer(request, "Set-Cookie: a=secret\r\nLocation: http://127.0.0.1:9/\r\n", 307),
      (request) => answer(request, "Set-Cookie: a=secret\r\nContent-Encoding: zstd\r\n"),
      (request) => void request.socket.end("HTTP/1.1 200 X\r\nSet-Cookie: a=secret\r\nContent-Length: 9\r\n\r\n{"),
      (request) => void request.socket.end("HTTP/1.1 200 X\r\nSet-Cookie: a=secret\r\nBroken\r\n\r\n"),
      (request) => void request.socket.resetAndDestroy(),
    ];
    const server = await serve((request) => endings[server.requests.length - 1]?.(request));
    const client = connect(server.url, { cookies: true });
    const outcomes: unknown[] = [];
    for (let i = 0; i < endings.length; i += 1) {
      outcomes.push(await client.callTool(call, { contract }).catch((caught: unknown) => caught));
    }
    expect(seen(server.requests).slice(1)).toEqual(endings.slice(1).map(() => "a=secret"));
    expect(told.length).toBeGreaterThan(endings.length * 2);
    expect(inspect([told, outcomes], { depth: 9, showHidden: true })).not.toContain("secret");
  });
});

describe("F-20: cookies and the exchange", () => {
  it("a fetch that was given carries cookies only when it is said to", async () => {
    const server = await serve((request) => answer(request, "Set-Cookie: a=1\r\n"));
    const { origin } = new URL(server.url);
    const made = (carriesCookies?: boolean) => {
      const exchange = createFetchExchange({ origin, fetch: (url, init) => fetch(url, init), carriesCookies });
      const clientInfo = { name: "test", version: "1" };
      const client = new ModernStreamableHTTPClient({ endpoint: server.url, clientInfo, exchange, cookies: true });
      opened.push(client);
      return client;
    };
    expect(() => made()).toThrow(
      expect.objectContaining({
        code: "unsupported_by_exchange",
        details: expect.objectContaining({ option: "cookies", capability: "cookies" }),
      }),
    );
    const client = made(true);
    await client.callTool(call, { contract });
    await client.callTool(call, { contract });
    expect(seen(server.requests)).toEqual([undefined, "a=1"]);
  });
});
