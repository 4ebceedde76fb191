import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/index.js";
import { type Framing, httpAnswer, idOf, type RawRequest, RawServer } from "../../../support/raw-server.js";
import { CALL, RelayParties } from "./relay-parties.js";

const parties = new RelayParties();
afterEach(parties.opened.close);

interface Cut {
  readonly at: number;
  readonly reset: boolean;
}

const RESULT = '{"content":[{"type":"text","text":"größe"}]}';
const json = (id: number): string => `{"jsonrpc":"2.0","id":${String(id)},"result":${RESULT}}`;
const sse = (id: number): string => `event: message\ndata: ${json(id)}\n\n`;
const ANSWERED = "Relay-Outcome: answered\r\n";

const everyCut = (length: number, reset: boolean): Cut[] => Array.from({ length }, (_, at) => ({ at, reset }));

/** A server that cuts each answer where it is told next, and then serves whole. */
async function cutting(cuts: readonly Cut[], answerTo: (id: number) => Buffer): Promise<RawServer> {
  const queue = [...cuts];
  const server = await RawServer.start((request: RawRequest) => {
    const whole = answerTo(idOf(request));
    const cut = queue.shift();
    if (cut === undefined) {
      request.socket.write(whole);
      return;
    }
    const bytes = whole.subarray(0, cut.at);
    const end = (): void => {
      if (cut.reset) request.socket.resetAndDestroy();
      else request.socket.end();
    };
    if (bytes.length === 0) end();
    else request.socket.write(bytes, () => setImmediate(end));
  });
  parties.opened.push(server);
  return server;
}

async function outcomes(client: RemoteMcpClient, count: number) {
  const all: { readonly outcome: unknown; readonly ms: number }[] = [];
  for (let i = 0; i < count; i += 1) {
    const startedAt = performance.now();
    const outcome: unknown = await client.callTool(...CALL).catch((error: unknown) => error);
    all.push({ outcome, ms: performance.now() - startedAt });
  }
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  expect(times[Math.floor(times.length / 2)]).toBeLessThan(100);
  return all;
}

const baseOf = (server: RawServer): string => `http://127.0.0.1:${String(server.port)}`;

/** Calls once for each cut of what stands at the relay's address. */
async function throughCutRelay(cuts: readonly Cut[], answerTo: (id: number) => Buffer) {
  const server = await cutting(cuts, answerTo);
  const seen = await outcomes(parties.guest({ url: baseOf(server) }, "bearer"), cuts.length);
  // A cut is never a reason to ask again.
  expect(server.requests).toHaveLength(cuts.length);
  return seen;
}

describe.each([false, true])("F-1, H-7: the relay's answer cut at every byte (reset: %s)", (reset) => {
  it.each<Framing>(["content-length", "chunked"])("the gateway's JSON, framed by %s, is unknown", async (framing) => {
    const answerTo = (id: number): Buffer => httpAnswer(json(id).padEnd(120), { framing, headers: ANSWERED });
    for (const { outcome } of await throughCutRelay(everyCut(answerTo(1).length, reset), answerTo)) {
      expect(outcome).toMatchObject({ delivery: "unknown" });
    }
  });

  it("the gateway's stream is unknown until the response event is whole", async () => {
    const answerTo = (id: number): Buffer =>
      httpAnswer(sse(id), { framing: "chunked", type: "text/event-stream", headers: ANSWERED });
    const cuts = everyCut(answerTo(1).length, reset);
    for (const [index, { outcome }] of (await throughCutRelay(cuts, answerTo)).entries()) {
      const at = cuts[index]?.at ?? 0;
      const whole = answerTo(index + 1);
      const dataEnd = whole.indexOf("\n\n", whole.indexOf("data: "));
      if (at < dataEnd || isRemoteConnectorError(outcome)) {
        // A reset can overtake bytes that were sent already.
        expect(outcome, `cut at ${String(at)}`).toMatchObject({ delivery: "unknown" });
        expect(at < dataEnd || reset, `cut at ${String(at)}`).toBe(true);
      } else expect(outcome, `cut at ${String(at)}`).toEqual(JSON.parse(RESULT));
    }
  });

  it("the gateway's refusal is unknown until it is whole", async () => {
    const body = (id: number): string => `{"jsonrpc":"2.0","id":${String(id)},"error":{"code":-33003,"message":"no"}}`;
    const answerTo = (id: number): Buffer => httpAnswer(body(id).padEnd(120), { status: 400, headers: ANSWERED });
    for (const { outcome } of await throughCutRelay(everyCut(answerTo(1).length, reset), answerTo)) {
      expect(outcome).toMatchObject({ delivery: "unknown" });
    }
  });

  it.each([
    ["not_sent", "not_leased"],
    ["unknown", "broken"],
  ])("%s is said by the end of the head, and nothing less", async (outcome, reason) => {
    const head = `HTTP/1.1 403 X\r\nRelay-Outcome: ${outcome}\r\nRelay-Reason: ${reason}\r\nContent-Length: 0\r\n\r\n`;
    const cuts = everyCut(head.length + 1, reset);
    const seen = await throughCutRelay(cuts, () => Buffer.from(head));
    for (const [index, { outcome: failure }] of seen.entries()) {
      const isWhole = index === head.length;
      const delivery = isWhole && outcome === "not_sent" ? /^(not_sent)$/ : /^unknown$/;
      if (reset && isWhole) expect(failure).toMatchObject({ delivery: expect.stringMatching(/^(not_sent|unknown)$/) });
      else expect(failure, `cut at ${String(index)}`).toMatchObject({ delivery: expect.stringMatching(delivery) });
    }
  });
});

describe.each([false, true])(
  "F-1, H-7: the gateway's answer cut at every byte behind the relay (reset: %s)",
  (reset) => {
    async function throughRelay(cuts: readonly Cut[], answerTo: (id: number) => Buffer) {
      const gateway = await cutting(cuts, answerTo);
      const { relay, lease } = await parties.desktop({ url: baseOf(gateway) });
      const seen = await outcomes(parties.guest(relay.address, lease().bearer), cuts.length);
      expect(gateway.requests).toHaveLength(cuts.length);
      await expect.poll(() => relay.counts.requests).toBe(0);
      return seen;
    }

    it.each<Framing>(["content-length", "chunked", "close"])("JSON, framed by %s", async (framing) => {
      const answerTo = (id: number): Buffer => httpAnswer(json(id).padEnd(120), { framing });
      const cuts = everyCut(answerTo(1).length, reset);
      for (const [index, { outcome }] of (await throughRelay(cuts, answerTo)).entries()) {
        const at = cuts[index]?.at ?? 0;
        const whole = answerTo(index + 1);
        // Only the end of the connection ends such a body, and white space behind the JSON may be missing.
        const jsonEnd = whole.indexOf("\r\n\r\n") + 4 + Buffer.byteLength(json(index + 1));
        if (framing === "close" && at >= jsonEnd) expect(outcome).toEqual(JSON.parse(RESULT));
        else expect(outcome, `cut at ${String(at)}`).toMatchObject({ delivery: "unknown" });
      }
    });

    it("a stream", async () => {
      const answerTo = (id: number): Buffer => httpAnswer(sse(id), { framing: "chunked", type: "text/event-stream" });
      const cuts = everyCut(answerTo(1).length, reset);
      for (const [index, { outcome }] of (await throughRelay(cuts, answerTo)).entries()) {
        const at = cuts[index]?.at ?? 0;
        const whole = answerTo(index + 1);
        const dataEnd = whole.indexOf("\n\n", whole.indexOf("data: "));
        if (at < dataEnd || isRemoteConnectorError(outcome)) {
          expect(outcome, `cut at ${String(at)}`).toMatchObject({ delivery: "unknown" });
          expect(at < dataEnd || reset, `cut at ${String(at)}`).toBe(true);
        } else expect(outcome, `cut at ${String(at)}`).toEqual(JSON.parse(RESULT));
      }
    });
  },
);
