import { getEventListeners } from "node:events";
import { createRequire } from "node:module";
import { inspect } from "node:util";
import { request as undiciRequest } from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ModernStreamableHTTPClient } from "../../src/modern-client/index.js";
import { decodeHeaderValue, isJsonObject } from "../../src/protocol/index.js";
import {
  ANY_TIMES,
  answerBody,
  answerEvents,
  answerRaw,
  answerRedirect,
  answerResult,
  compress,
  Gate,
  holdUntil,
  likeModernServer,
  resetAt,
  resultMessage,
  withFaults,
} from "../../src/testing/index.js";
import { createGateway } from "../../src/gateway/index.js";
import { acknowledgedMessage, CALL, caught, connectTo, meet, OK, PLAIN, serve } from "./parties.js";

/** undici's own timers, which tests can't fake in another way: `tick` moves their time. */
const undiciTimers: { tick(ms: number): void } = createRequire(import.meta.url)("undici/lib/util/timers.js");

describe("headers", () => {
  it("MB-038: a media type in another case, or with a charset, is refused", async () => {
    const { client, server } = await meet([
      answerResult(OK, { type: "Application/JSON;charset=UTF-8" }),
      answerEvents([resultMessage(OK)], { type: "text/event-stream;charset=utf-8" }),
      answerEvents([resultMessage(OK)], { type: "TEXT/EVENT-STREAM" }),
    ]);
    for (let i = 0; i < 3; i += 1) await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    expect(new Set(server.requests.map((request) => request.header("content-type")))).toEqual(
      new Set(["application/json"]),
    );
  });

  it("MB-040: names that are not plain ASCII are mirrored unencoded, or not at all", async () => {
    const names = ["naïve 工具", " leading", "=?base64?eA==?=", "plain"];
    const tools = names.map((name) => ({ name }));
    const read = ({ uri }: Readonly<Record<string, unknown>>) => ({ contents: [{ uri, text: "" }] });
    const server = await serve(likeModernServer({ tools, methods: { "resources/read": read } }));
    const { client } = connectTo(server.url);
    // The server compares what it decodes from the headers with the body, as the revision has it.
    for (const name of names) await expect(client.callTool({ name })).resolves.toMatchObject({ content: [{}] });
    const uri = "file:///a\rb";
    await expect(client.request("resources/read", { uri })).resolves.toMatchObject({ contents: [{ uri }] });
    const sent = server.requests.filter(({ method }) => method !== "tools/list");
    expect(sent.map((request) => request.header("mcp-method"))).toEqual(sent.map(({ method }) => method));
    expect(sent.map((request) => decodeHeaderValue(request.header("mcp-name") ?? ""))).toEqual([...names, uri]);
    expect(sent.at(-2)?.header("mcp-name")).toBe("plain");
  });

  it("MB-041: what frames one message is copied to the other side of a gateway", async () => {
    const text = "x".repeat(4_096);
    const answer = likeModernServer({ tools: [{ name: "t", run: () => ({ content: [{ type: "text", text }] }) }] });
    const upstream = await serve(async (request) => {
      const given = await answer(request);
      return given === undefined ? given : withFaults(given, compress());
    });
    const gateway = await createGateway({
      accounts: [{ accountId: "a", sessions: ["s-1"] }],
      connectors: [
        {
          connectorId: "c",
          connectorVersion: "1.0.0",
          authorization: "none",
          upstream: { kind: "http", url: upstream.url },
        },
      ],
    });
    onTestFinished(() => gateway.close());
    const between = await serve(async (request) => {
      const headers = request.headers.filter(([name]) => !/^(?:host|connection|content-length)$/i.test(name));
      const response = await fetch(`${gateway.origin}/v1/connectors/c/mcp`, {
        method: "POST",
        headers: [...headers.map(([name, value]): [string, string] => [name, value]), ["Accept-Encoding", "gzip"]],
        body: request.text,
      });
      seen.push(response);
      return answerBody(await response.text(), { status: response.status, type: "application/json" });
    });
    const seen: Response[] = [];
    const headers = { Cookie: "session=s-1", "Tutti-Connector-Version": "1.0.0" };
    const { client } = connectTo(between.url, { headers, meta: { "sh.tutti/connectorVersion": "1.0.0" } });
    await expect(client.callTool(CALL, PLAIN)).resolves.toMatchObject({ content: [{ text }] });
    expect(seen.map((response) => response.headers.get("content-encoding"))).toEqual([null]);
    const sent = upstream.requests.at(-1);
    expect(sent?.header("host")).toBe(new URL(upstream.url).host);
    expect(Number(sent?.header("content-length"))).toBe(sent?.body.length);
    expect(sent?.body.length).not.toBe(between.requests[0]?.body.length);
    expect(sent?.header("cookie")).toBeUndefined();
    for (const header of ["Content-Length", "Content-Encoding", "Host", "Accept-Encoding", "Connection"]) {
      expect(() => connectTo(between.url, { headers: { [header]: "1" } })).toThrow(
        expect.objectContaining({ code: "invalid_header" }),
      );
    }
  });

  it("MB-046: a header value beyond Latin-1 or with a line break fails every connection, without saying which", async () => {
    for (const [header, value] of [
      ["X-User", "Łucja ő"],
      ["X-Note", "価格"],
      ["X-Break", "a\r\nX-Evil: SENTINEL"],
    ] as const) {
      const endpoint = "http://127.0.0.1:9/mcp";
      const make = () => new ModernStreamableHTTPClient({ endpoint, clientInfo: false, headers: { [header]: value } });
      const error = await caught(Promise.resolve().then(make));
      expect(error).toMatchObject({ code: "invalid_header", delivery: "not_sent", details: { header } });
      expect(inspect(error, { depth: 9 })).not.toContain(value);
    }
    const { client } = await meet([answerResult(OK)]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
  });
});

describe("redirects", () => {
  it("MB-103: what was configured for one server is sent to another by a redirect", async () => {
    const other = await serve(() => answerResult(OK));
    const { client, server } = await meet([answerRedirect(307, other.url), answerRedirect(308, other.url)], {
      headers: { "X-Api-Key": "k1" },
      authorize: () => ({ Authorization: "Bearer t1" }),
    });
    for (let i = 0; i < 2; i += 1) {
      await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({
        code: "redirect_refused",
        delivery: "answered",
        details: { status: 307 + i, location: other.url },
      });
    }
    expect(other.connections).toBe(0);
    expect(server.requests).toHaveLength(2);
  });

  it("MB-108: a redirect turns a POST into a GET", async () => {
    const statuses = [301, 302, 303];
    let count = 0;
    const server = await serve((request) => {
      const status = statuses[Math.floor(count / 2)] ?? 500;
      count += 1;
      return answerRedirect(status, count % 2 === 1 ? "/mcp/" : `https://${request.header("host") ?? ""}/mcp`);
    });
    const { client } = connectTo(server.url);
    const slash = "its location differs in the slash at the end of the path (one more)";
    const scheme = "its location differs in the scheme (https), and is of another origin";
    for (const status of statuses) {
      for (const [location, reason] of [
        [`${server.url}/`, slash],
        [server.url.replace("http:", "https:"), scheme],
      ]) {
        await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({
          code: "redirect_refused",
          delivery: "answered",
          details: { status, location, reason },
        });
      }
    }
    expect(server.requests.map(({ verb, path }) => `${verb} ${path}`)).toEqual(Array(6).fill("POST /mcp"));
  });

  it("MB-110: a redirected POST arrives without its body", async () => {
    const other = await serve(() => answerResult(OK));
    const { client } = await meet([answerRedirect(307, `${other.origin}/elsewhere`)]);
    await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({ code: "redirect_refused" });
    expect(other.requests.filter(({ text }) => text === "")).toEqual([]);
    expect(other.connections).toBe(0);
  });
});

describe("connections", () => {
  it("MB-049: a call whose connection was reset is sent again, and runs twice", async () => {
    const { client, server } = await meet([answerResult(OK), withFaults(answerRaw(""), resetAt(0))]);
    await client.callTool(CALL, PLAIN);
    // The library has the socket back a moment after the call is settled; the next call is to be on it.
    await new Promise((resolve) => setImmediate(resolve));
    await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
    });
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0]);
  });

  it("MB-051: listeners pile up on a signal that outlives its calls", async () => {
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const during: number[] = [];
    const server = await serve(() => {
      during.push(listeners());
      return during.length % 2 === 0 ? answerResult(OK) : answerEvents([resultMessage(OK)]);
    });
    const { client } = connectTo(server.url);
    const onOthers = vi.spyOn(EventTarget.prototype, "addEventListener");
    onTestFinished(() => onOthers.mockRestore());
    for (let nth = 0; nth < 2_000; nth += 1) {
      await client.callTool(CALL, { ...PLAIN, signal });
      if (listeners() > 0) break;
    }
    expect(listeners()).toBe(0);
    expect(during).toEqual(Array(2_000).fill(1));
    // Each connection listens to the end of its client; nothing grows with the calls.
    expect(onOthers.mock.contexts.filter((target) => target !== signal).length).toBeLessThan(10);
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    await Promise.all(Array.from({ length: 50 }, () => client.callTool(CALL, { ...PLAIN, signal })));
    expect(listeners()).toBe(0);
    // A subscription that ends in peace and is opened again, five hundred times.
    const atOpening: number[] = [];
    const ends = await serve(({ message }) => {
      atOpening.push(listeners());
      const id = isJsonObject(message) ? message["id"] : undefined;
      return answerEvents([acknowledgedMessage(id, {}), resultMessage({ resultType: "complete" })]);
    });
    const kept = connectTo(ends.url).client.keepListening(
      {},
      { signal, firstReopenDelayMs: 1, longestReopenDelayMs: 1 },
    );
    await expect.poll(() => atOpening.length, { timeout: 20_000 }).toBeGreaterThan(500);
    expect(new Set(atOpening)).toEqual(new Set([1]));
    kept.close();
    await kept.closed;
    expect(listeners()).toBe(0);
    expect(warnings).toEqual([]);
  });

  it("MB-054: the HTTP library's own timer ends a stream that is silent for five minutes", async () => {
    const gate = new Gate();
    const answer = withFaults(answerEvents([resultMessage(OK)]), holdUntil(gate.opened, { body: 0 }));
    const server = await serve([{ answer, times: ANY_TIMES }]);
    const { client } = connectTo(server.url);
    const promise = client.callTool(CALL, { ...PLAIN, idleTimeoutMs: Infinity });
    // The same library with its own timers, to see that its time has really passed.
    const response = await undiciRequest(server.url, { method: "POST", body: "{}" });
    const bare = caught(response.body.text());
    await expect.poll(() => server.requests.length).toBe(2);
    for (let i = 0; i < 3; i += 1) undiciTimers.tick(301_000);
    expect(await bare).toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
    gate.open();
    await expect(promise).resolves.toEqual(OK);
  });
});
