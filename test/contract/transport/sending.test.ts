import { afterEach, describe, expect, it } from "vitest";
import {
  createUndiciExchange,
  HttpEndpoint,
  httpGet,
  httpSend,
  resolveTransportOptions,
} from "../../../src/transport/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { Http2Server } from "../../support/http2-server.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

/** JSON with characters of every length, in a view whose neighbours must not be sent. */
const TEXT = JSON.stringify({ id: 1, text: "ä€😀\u0001" });
const whole = new TextEncoder().encode(`before ${TEXT} after`);
const body = whole.subarray(7, whole.length - 6);
const answered = (request: RawRequest): void => void request.socket.write(httpAnswer('{"ok":true}', { status: 201 }));

describe.each(EXCHANGES)("F-1: requests that are sent once, over $name", ({ create }) => {
  const endpointOf = (url: string): HttpEndpoint => {
    const endpoint = new HttpEndpoint(new URL(url), resolveTransportOptions({ exchange: create(url) }), undefined);
    opened.push(endpoint);
    return endpoint;
  };

  it("F-1: bytes arrive as they are, with their length and type", async () => {
    const server = await serve(answered);
    const answer = await httpSend(endpointOf(server.url), "POST", body);
    expect([answer.status, new TextDecoder().decode(answer.body)]).toEqual([201, '{"ok":true}']);
    const [request] = server.requests;
    expect(request?.body).toBe(TEXT);
    expect(request?.head).toMatch(/^POST /);
    expect(request?.head.toLowerCase()).toContain("content-type: application/json\r\n");
    expect(request?.head.toLowerCase()).toContain(`content-length: ${String(body.length)}`);
  });

  it("F-1: a DELETE has no body and no type", async () => {
    const server = await serve(answered);
    await httpSend(endpointOf(server.url), "DELETE", null);
    expect(server.requests[0]?.head).toMatch(/^DELETE /);
    expect(server.requests[0]?.head.toLowerCase()).not.toContain("content-type");
    expect(server.requests[0]?.body).toBe("");
  });

  it("A-11: a type and headers of one request are checked, sent with it, and its answer's headers are there", async () => {
    const headers = "Location: /there\r\nDPoP-Nonce: n\r\n";
    const server = await serve((request) => request.socket.write(httpAnswer("{}", { headers })));
    const endpoint = endpointOf(server.url);
    const contentType = "application/x-www-form-urlencoded";
    const answer = await httpSend(endpoint, "POST", body, { contentType, headers: { DPoP: "proof" } });
    expect(answer.headers).toMatchObject({ location: "/there", "dpop-nonce": "n" });
    const [request] = server.requests;
    expect([request?.header("content-type"), request?.header("dpop")]).toEqual([contentType, "proof"]);
    await httpGet(endpoint, { accept: "text/html", headers: { "X-A": "1" } });
    const [, second] = server.requests;
    expect([second?.header("accept"), second?.header("x-a"), second?.header("content-type")]).toEqual([
      "text/html",
      "1",
      undefined,
    ]);
    for (const wrong of [
      { headers: { "Content-Type": "text/plain" } },
      { headers: { "X-A": "a\r\nX-B: b" } },
      { contentType: "a\r\nX-B: b" },
      { contentType: "" },
    ]) {
      const sent = httpSend(endpoint, "POST", body, wrong);
      await expect(sent).rejects.toMatchObject({ code: "invalid_header", delivery: "not_sent" });
    }
    expect(server.requests).toHaveLength(2);
  });

  it("F-1: neither a redirect nor a broken connection makes a second one", async () => {
    const server = await serve((request) => {
      if (server.requests.length === 1) {
        request.socket.write(httpAnswer("", { status: 307, headers: "Location: /other\r\n" }));
      } else request.socket.destroy();
    });
    const endpoint = endpointOf(server.url);
    expect((await httpSend(endpoint, "POST", body)).status).toBe(307);
    await expect(httpSend(endpoint, "POST", body)).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
    });
    expect(server.requests).toHaveLength(2);
  });
});

it("F-16: bytes arrive over HTTP/2, too", async () => {
  const server = await Http2Server.start({
    answer: ({ stream }) => {
      stream.respond({ ":status": 200, "content-type": "application/json" });
      stream.end("{}");
    },
  });
  opened.push(server);
  const url = new URL(server.url);
  const exchange = createUndiciExchange({ origin: url.origin, maxConnections: 2, ca: AUTHORITY, http2: true });
  const endpoint = new HttpEndpoint(url, resolveTransportOptions({ exchange }), undefined);
  opened.push(endpoint);
  expect((await httpSend(endpoint, "POST", body)).status).toBe(200);
  expect(server.requests[0]?.body).toBe(TEXT);
  expect(server.requests[0]?.headers["content-length"]).toBe(String(body.length));
});
