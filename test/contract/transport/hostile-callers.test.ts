import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawAnswerer, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES, type ExchangeKind } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

function clientOver(
  create: ExchangeKind["create"],
  endpoint: string,
  options: Partial<ModernStreamableHTTPClientOptions> = {},
) {
  const exchange = create(endpoint);
  const made = new ModernStreamableHTTPClient({
    endpoint,
    exchange,
    clientInfo: { name: "test", version: "1" },
    ...options,
  });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };
const ok: RawAnswerer = (request) => void request.socket.write(answerTo(request, '{"content":[]}'));
const answerTo = (request: RawRequest, result: string, id = String(idOf(request))): Buffer =>
  httpAnswer(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
const streamTo = (...data: string[]): Buffer =>
  httpAnswer(data.map((one) => `data: ${one}\n\n`).join(""), { type: "text/event-stream" });
const thrown = (): never => {
  throw new Error("mine");
};

describe.each(EXCHANGES)("over $name", ({ create }) => {
  const client = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) =>
    clientOver(create, endpoint, options);

  describe("callers that throw", () => {
    it.each([
      ["an Error", thrown],
      [
        "a primitive",
        () => {
          throw 7;
        },
      ],
    ])("H-14: admit that throws %s is a refusal, asked once, and costs no slot", async (_, admit) => {
      const server = await serve(ok);
      const made = client(server.url, { maxConcurrentRequests: 1 });
      let asked = 0;
      const counting = (): string | undefined => {
        asked += 1;
        return admit();
      };
      for (let i = 0; i < 3; i += 1) {
        await expect(made.callTool(call, { contract, admit: counting })).rejects.toMatchObject({
          code: "not_admitted",
          delivery: "not_sent",
        });
      }
      expect(asked).toBe(3);
      await expect(made.callTool(call, { contract })).resolves.toEqual({ content: [] });
      expect(server.requests).toHaveLength(1);
    });

    it("W-5, W-14: onDiagnostic that throws changes nothing", async () => {
      const server = await serve((request) => {
        const { method }: { method: string } = JSON.parse(request.body);
        const id = `"${String(idOf(request))}"`;
        if (method === "tools/list")
          request.socket.write(answerTo(request, '{"tools":[null,{"name":"t","inputSchema":{}}]}', id));
        else request.socket.write(streamTo("junk", `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`));
      });
      const made = client(server.url, { onDiagnostic: thrown });
      await expect(made.callTool(call)).resolves.toEqual({ content: [] });
      await expect(made.listTools()).resolves.toMatchObject({ tools: [{ name: "t" }] });
      await expect(made.listAllTools()).resolves.toMatchObject({ tools: [{ name: "t" }] });
      const onProgress = (): Promise<never> => Promise.reject(new Error("mine"));
      await expect(made.callTool(call, { onProgress })).resolves.toEqual({ content: [] });
    });

    it("F-10: many queued calls that each fail at once all settle", async () => {
      const server = await serve(() => undefined);
      let fails = false;
      const made = client(server.url, {
        maxConcurrentRequests: 1,
        maxQueuedRequests: 5_000,
        authorize: () => (fails ? thrown() : undefined),
      });
      const first = made.callTool(call, { contract, idleTimeoutMs: 50 });
      fails = true;
      const queued = Array.from({ length: 4_000 }, () => made.callTool(call, { contract }));
      await expect(first).rejects.toMatchObject({ code: "timeout" });
      const outcomes = await Promise.allSettled(queued);
      expect(new Set(outcomes.map((o) => (o.status === "rejected" ? deliveryOf(o.reason) : "")))).toEqual(
        new Set(["not_sent"]),
      );
      fails = false;
      await expect(made.callTool(call, { contract, idleTimeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
    });
  });

  describe("aborts from inside", () => {
    it("F-2: an authorizer of the list that aborts the call keeps it from being sent", async () => {
      const server = await serve(ok);
      const controller = new AbortController();
      const made = client(server.url, {
        authorize: ({ method }) => {
          if (method === "tools/list") controller.abort("inside");
          return undefined;
        },
      });
      const promise = made.callTool(call, { signal: controller.signal });
      await expect(promise).rejects.toBe("inside");
      expect(deliveryOf(promise)).toBe("not_sent");
      expect(server.requests.filter(({ body }) => body.includes("tools/call"))).toHaveLength(0);
    });

    it("F-2: admit that aborts the call sends nothing", async () => {
      const server = await serve(ok);
      const controller = new AbortController();
      const promise = client(server.url).callTool(call, {
        contract,
        signal: controller.signal,
        admit: () => {
          controller.abort("inside");
          return undefined;
        },
      });
      await expect(promise).rejects.toBe("inside");
      expect(deliveryOf(promise)).toBe("not_sent");
      expect(server.requests).toHaveLength(0);
    });
  });

  describe("authorizers", () => {
    it("F-15: can't change where requests go", async () => {
      const server = await serve(ok);
      const made = client(server.url, {
        authorize: (request) => {
          Object.assign(request, { url: "http://127.0.0.1:9/evil" });
          return undefined;
        },
      });
      await made.callTool(call, { contract });
      await made.callTool(call, { contract });
      expect(server.requests.map(({ head }) => head.split(" ")[1])).toEqual(["/mcp", "/mcp"]);
    });

    it("F-17: what the authorizer gives takes the place of what was configured", async () => {
      const server = await serve(ok);
      const made = client(server.url, {
        headers: { Authorization: "Bearer old" },
        authorize: () => ({ authorization: "Bearer new" }),
      });
      await made.callTool(call, { contract });
      expect(server.requests[0]?.head.match(/^authorization:.*$/gim)).toEqual(["Authorization: Bearer new"]);
    });
  });

  describe("arguments", () => {
    it("W-23: headers mirror what is sent, though the caller changes its objects meanwhile", async () => {
      const tool =
        '{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"P"}}}}]}';
      const server = await serve((request) => {
        const isList = request.body.includes("tools/list");
        setTimeout(() => request.socket.write(answerTo(request, isList ? tool : '{"content":[]}')), 20);
      });
      const made = client(server.url);
      const args = { p: "one" };
      const promise = made.callTool({ name: "t", arguments: args });
      args.p = "two";
      await promise;
      await made.callTool({ name: "t", arguments: { p: { toJSON: () => "three" } } });
      const calls = server.requests.filter(({ body }) => body.includes("tools/call"));
      for (const [index, value] of ["one", "three"].entries()) {
        expect(calls[index]?.header("mcp-param-p")).toBe(value);
        expect(calls[index]?.body).toContain(`"p":"${value}"`);
      }
    });

    it.each([
      [{ timeoutMs: 5 }, "totalTimeoutMs"],
      [{ onprogress: thrown }, "onProgress"],
    ])("an option of a call that nobody knows is refused by name", async (options, suggestion) => {
      const promise = client("http://127.0.0.1:9/").callTool(call, Object.assign({ contract }, options));
      await expect(promise).rejects.toMatchObject({
        code: "invalid_options",
        details: suggestion === "onProgress" ? { suggestion } : {},
      });
      expect(deliveryOf(promise)).toBe("not_sent");
    });
  });

  describe("hostile servers", () => {
    it("W-10: a result type deeper than any stack, in JSON and in a stream, ends the call", async () => {
      const deep = `{"resultType":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
      const server = await serve((request) => {
        const body = `{"jsonrpc":"2.0","id":${String(idOf(request))},"result":${deep}}`;
        request.socket.write(server.requests.length % 2 === 1 ? httpAnswer(body) : streamTo(body));
      });
      const made = client(server.url);
      for (let i = 0; i < 2; i += 1) {
        await expect(made.callTool(call, { contract })).rejects.toMatchObject({
          code: "invalid_answer",
          delivery: "unknown",
        });
      }
    });

    it("F-6: bytes of an answer that is no HTTP are in no form of the error", async () => {
      const server = await serve((request) =>
        request.socket.end(
          `HTTP/1.1 200 OK\r\nContent-Length: SENTINEL\r\nX: ${request.header("authorization") ?? ""}\r\n\r\nSENTINEL`,
        ),
      );
      const made = client(server.url, { authorize: () => ({ Authorization: "Bearer SENTINEL" }) });
      const error: unknown = await made.callTool(call, { contract }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "connection_broken", delivery: "unknown" });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("SENTINEL");
    });

    it.each(["reset", "stall"])(
      "F-1, W-8: a refusal whose body does not come (%s) keeps its status and hints",
      async (how) => {
        const server = await serve(({ socket }) => {
          socket.write("HTTP/1.1 429 X\r\nContent-Type: text/html\r\nRetry-After: 3\r\nContent-Length: 99\r\n\r\n<p>");
          if (how === "reset") setTimeout(() => socket.resetAndDestroy(), 20);
        });
        await expect(client(server.url).callTool(call, { contract, idleTimeoutMs: 300 })).rejects.toMatchObject({
          code: "unexpected_answer",
          delivery: "unknown",
          details: { status: 429, retryAfter: "3", evidence: { handedOver: true, headersSeen: true } },
        });
      },
    );

    it("F-1: a peer's error says what was seen", async () => {
      const server = await serve(
        (request) =>
          void request.socket.write(
            httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"error":{"code":1,"message":""}}`, {
              status: 400,
            }),
          ),
      );
      await expect(client(server.url).callTool(call, { contract })).rejects.toMatchObject({
        details: { evidence: { handedOver: true, headersSeen: true, attempts: 1 } },
      });
    });

    it("F-10: what is kept of diagnostics is bounded", async () => {
      const server = await serve((request) => {
        const noise = Array.from(
          { length: 500 },
          (_, i) => `{"jsonrpc":"2.0","id":"n${String(i)}","method":"${"m".repeat(1_000)}"}`,
        );
        request.socket.write(streamTo(...noise, `{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{}}`));
      });
      const { diagnostics } = await client(server.url).callTool(call, { contract, detail: true });
      expect(diagnostics.length).toBeLessThanOrEqual(100);
      expect(JSON.stringify(diagnostics).length).toBeLessThan(50_000);
    });

    it("W-14: streams that stay open after their response take a few connections at most", async () => {
      const server = await serve((request) => {
        const text = `data: {"jsonrpc":"2.0","id":${String(idOf(request))},"result":{}}\n\n`;
        request.socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`,
        );
      });
      const made = client(server.url, { maxConcurrentRequests: 1 });
      for (let i = 0; i < 60; i += 1) await made.callTool(call, { contract });
      expect(server.openSockets).toBeLessThanOrEqual(12);
    });
  });
});
