import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import {
  type AuthorizationRefusal,
  type Authorizer,
  type AuthorizeRequest,
  createUndiciExchange,
  EXCHANGE_CHANNELS,
  type HeaderMap,
  HttpEndpoint,
  httpSend,
  resolveTransportOptions,
  type ResponseHeaders,
} from "../../../src/transport/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawAnswerer, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

const call = { name: "t", arguments: { a: 1 } };
const contract = { parameters: [] };
const CHALLENGE = 'WWW-Authenticate: Bearer realm="a"\r\n';
const ok: RawAnswerer = (request) =>
  void request.socket.write(httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`));
const refusal = (status = 401, headers = CHALLENGE, body = "no"): Buffer =>
  httpAnswer(body, { status, type: "text/plain", headers });
const bearer = (request: RawRequest | undefined): string | undefined => request?.header("authorization");

/** Gives a new token each time, and says what it is told to of refusals. */
class Signer implements Authorizer {
  readonly asked: AuthorizeRequest[] = [];
  readonly refused: AuthorizationRefusal[] = [];
  readonly answered: [AuthorizeRequest, ResponseHeaders][] = [];
  readonly #verdict: (refusal: AuthorizationRefusal) => boolean | Promise<boolean>;

  constructor(verdict: (refusal: AuthorizationRefusal) => boolean | Promise<boolean> = () => true) {
    this.#verdict = verdict;
  }

  authorize(request: AuthorizeRequest): HeaderMap | undefined {
    this.asked.push(request);
    return { Authorization: `Bearer ${String(this.asked.length)}` };
  }

  onRefused(refused: AuthorizationRefusal): boolean | Promise<boolean> {
    this.refused.push(refused);
    return this.#verdict(refused);
  }

  onAnswered(request: AuthorizeRequest, headers: ResponseHeaders): void {
    this.answered.push([request, headers]);
  }
}

/** Answers the first requests with these, and all others well. */
function first(...answers: (Buffer | RawAnswerer)[]): RawAnswerer {
  return (request) => {
    const answer = answers.shift() ?? ok;
    if (typeof answer === "function") answer(request);
    else request.socket.write(answer);
  };
}

/** One who waits for what a test waits for. */
function pending<T>(): { readonly promise: Promise<T>; readonly settle: (value: T) => void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, settle };
}

function told(error: unknown): object {
  if (!isRemoteConnectorError(error)) throw error;
  const { evidence, ...details } = error.details;
  return { code: error.code, delivery: error.delivery, message: error.message, details, handed: evidence?.handedOver };
}

const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe.each(EXCHANGES)("A-8: a request that was refused, over $name", ({ name, create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it.each([401, 403] as const)("%i: it is made once more, with other headers", async (status) => {
    const server = await serve(first(refusal(status)));
    const signer = new Signer(() => Promise.resolve(true));
    const admitted: string[] = [];
    const client = connect(server.url, { authorize: signer, headers: { "X-Mine": "1" } });
    const admit = (): undefined => void admitted.push("asked");
    await expect(client.callTool(call, { contract, admit })).resolves.toEqual({ content: [] });
    const [one, two] = server.requests;
    expect([bearer(one), bearer(two), two?.header("x-mine")]).toEqual(["Bearer 1", "Bearer 2", "1"]);
    expect([two?.body, server.requests.length]).toEqual([one?.body, 2]);
    expect(admitted).toEqual(["asked", "asked"]);
    const request = { url: server.url, method: "tools/call", httpMethod: "POST", attempt: 1, operation: {} };
    expect(signer.asked).toEqual([request, request]);
    expect(signer.refused).toMatchObject([
      { status, challenges: ['Bearer realm="a"'], sent: { Authorization: "Bearer 1" } },
    ]);
    expect(signer.refused[0]?.headers).toMatchObject({ "content-type": "text/plain" });
    expect(signer.asked[1]).toBe(signer.asked[0]);
    expect(signer.refused[0]?.request).toBe(signer.asked[0]);
    expect(signer.answered).toHaveLength(1);
    expect(signer.answered[0]?.[0]).toBe(signer.asked[0]);
    expect(signer.answered[0]?.[1]["content-type"]).toBe("application/json");
    // It is over.
    expect(signer.refused[0]?.signal.aborted).toBe(true);
    await client.callTool(call, { contract });
    expect(signer.asked[2]?.operation).not.toBe(signer.asked[0]?.operation);
  });

  it("nothing of the headers that were given before goes out again", async () => {
    const server = await serve(first(refusal(), refusal()));
    const given: (HeaderMap | undefined)[] = [
      { Authorization: "DPoP a", "X-Proof": "p", "x-team": "red" },
      undefined,
      { "X-Other": "o" },
    ];
    const refused: unknown[] = [];
    const client = connect(server.url, {
      headers: { "X-Team": "blue" },
      authorize: {
        authorize: () => given.shift(),
        onRefused: ({ sent }) => {
          refused.push(sent);
          return true;
        },
      },
    });
    await client.callTool(call, { contract });
    const names = ["authorization", "x-proof", "x-team", "x-other"];
    expect(server.requests.map((request) => names.map((header) => request.header(header)))).toEqual([
      ["DPoP a", "p", "red", undefined],
      [undefined, undefined, "blue", undefined],
      [undefined, undefined, "blue", "o"],
    ]);
    expect(refused).toEqual([{ Authorization: "DPoP a", "X-Proof": "p", "x-team": "red" }, undefined]);
  });

  it("401, then 403, then an answer: it is asked of each, about the same operation", async () => {
    const server = await serve(first(refusal(401), refusal(403)));
    const signer = new Signer();
    await expect(connect(server.url, { authorize: signer }).callTool(call, { contract })).resolves.toEqual({
      content: [],
    });
    expect(server.requests.map(bearer)).toEqual(["Bearer 1", "Bearer 2", "Bearer 3"]);
    expect(signer.refused.map(({ status }) => status)).toEqual([401, 403]);
    expect(new Set(signer.asked.map(({ operation }) => operation)).size).toBe(1);
    expect(signer.answered).toHaveLength(1);
  });

  it.each([
    ["no challenge", "", []],
    ["one", CHALLENGE, ['Bearer realm="a"']],
    ["an empty one", "WWW-Authenticate:\r\n", [""]],
    [
      "several lines",
      'WWW-Authenticate: Bearer realm="a, b"\r\nwww-authenticate: DPoP algs="ES256"\r\n',
      name === "fetch" ? ['Bearer realm="a, b", DPoP algs="ES256"'] : ['Bearer realm="a, b"', 'DPoP algs="ES256"'],
    ],
  ])("challenges come as they came: %s", async (_, headers, challenges) => {
    const server = await serve(first(refusal(401, headers)));
    const signer = new Signer();
    await connect(server.url, { authorize: signer }).callTool(call, { contract });
    expect(signer.refused[0]?.challenges).toEqual(challenges);
  });

  it.each([
    ["401", refusal(401)],
    ["403", refusal(403, "")],
    [
      "401 with a JSON-RPC error",
      httpAnswer('{"jsonrpc":"2.0","error":{"code":-32001,"message":"no"}}', { status: 401 }),
    ],
    ["401 in a coding that nobody undoes", refusal(401, "Content-Encoding: x-unknown\r\n")],
    ["401 that is too large", refusal(401, CHALLENGE, "x".repeat(100_000))],
  ])("%s, and false: the error is that of a client without an authorizer", async (_, answer) => {
    const server = await serve((request) => request.socket.write(answer));
    const signer = new Signer(() => Promise.resolve(false));
    const [plain, withFunction, asked] = await Promise.all(
      [undefined, () => undefined, signer].map((authorize) =>
        outcome(connect(server.url, { authorize }).callTool(call, { contract })),
      ),
    );
    expect(told(plain)).toMatchObject({ delivery: "answered" });
    expect([told(withFunction), told(asked)]).toEqual([told(plain), told(plain)]);
    expect([signer.refused.length, signer.answered.length, server.requests.length]).toEqual([1, 0, 3]);
  });

  it.each([
    ["an encoding that nobody undoes", refusal(401, "Content-Encoding: x-unknown\r\n")],
    ["a body that is too large", refusal(401, CHALLENGE, "x".repeat(100_000))],
    ["an event stream", httpAnswer("data: {}\n\n", { status: 401, type: "text/event-stream", framing: "chunked" })],
    ["no body", httpAnswer("", { status: 401 })],
    ["a connection that closes", httpAnswer("no", { status: 401, framing: "close" })],
  ])("a refusal with %s leads on like any other", async (_, answer) => {
    const server = await serve(
      first((request) => {
        request.socket.write(answer);
        if (answer.includes("Connection: close")) request.socket.end();
      }),
    );
    const client = connect(server.url, { authorize: new Signer() });
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [] });
    expect(server.requests).toHaveLength(2);
  });

  it("a refusal that is cut anywhere in its body is one all the same", async () => {
    const answer = refusal(401, CHALLENGE, "no entry");
    const headEnd = answer.indexOf("\r\n\r\n") + 4;
    for (let cut = headEnd - 1; cut < answer.length; cut += 1) {
      const cutOff: RawAnswerer = ({ socket }) => void socket.write(answer.subarray(0, cut), () => socket.end());
      const cutServer = await serve(cutOff);
      const plain = await outcome(connect(cutServer.url).callTool(call, { contract }));
      for (const again of [true, false]) {
        const server = await serve(first(cutOff));
        const signer = new Signer(() => again);
        const ended = await outcome(connect(server.url, { authorize: signer }).callTool(call, { contract }));
        if (cut < headEnd) {
          expect(ended).toMatchObject({ code: "connection_broken", delivery: "unknown" });
          expect([signer.refused.length, server.requests.length]).toEqual([0, 1]);
        } else if (again) {
          expect(ended).toEqual({ content: [] });
          expect(server.requests.map(bearer)).toEqual(["Bearer 1", "Bearer 2"]);
        } else {
          expect(told(ended)).toEqual(told(plain));
          expect([signer.refused.length, server.requests.length]).toEqual([1, 1]);
        }
      }
    }
  });

  describe("while it is asked", () => {
    async function asking(options: Partial<ModernStreamableHTTPClientOptions> = {}) {
      const clock = new FakeClock();
      const server = await serve(first(refusal()));
      const asked = pending<AuthorizationRefusal>();
      const verdict = pending<boolean>();
      const signer = new Signer((one) => {
        asked.settle(one);
        return verdict.promise;
      });
      const client = connect(server.url, { authorize: signer, clock, idleTimeoutMs: 10_000, ...options });
      return { clock, server, asked: asked.promise, verdict: verdict.settle, signer, client };
    }

    const answered = { handedOver: true, headersSeen: true };

    it("the idle deadline stands still, and the total one goes on", async () => {
      const { clock, server, asked, verdict, client } = await asking();
      const made = client.callTool(call, { contract, totalTimeoutMs: 100_000 });
      const ended = outcome(made);
      const { signal } = await asked;
      clock.step(99_999);
      expect(signal.aborted).toBe(false);
      clock.step(1);
      expect(signal.aborted).toBe(true);
      expect(await ended).toMatchObject({
        code: "timeout",
        delivery: "answered",
        details: { phase: "total", evidence: answered },
      });
      verdict(true);
      await clock.advance(0);
      expect([server.requests.length, clock.pending]).toEqual([1, 0]);
    });

    it("the connect deadline runs anew once it is made again", async () => {
      let asked = 0;
      const clock = new FakeClock();
      const server = await serve(first(refusal()));
      const hanging = pending<undefined>();
      const authorize = {
        authorize: () => {
          asked += 1;
          if (asked === 1) return undefined;
          hanging.settle(undefined);
          return new Promise<undefined>(() => undefined);
        },
        onRefused: () => {
          clock.step(9_000);
          return true;
        },
      };
      const client = connect(server.url, { authorize, clock });
      const ended = outcome(client.callTool(call, { contract }));
      await hanging.promise;
      clock.step(29_999);
      expect(clock.pending).toBeGreaterThan(0);
      clock.step(1);
      expect(await ended).toMatchObject({
        code: "timeout",
        delivery: "not_sent",
        details: { phase: "connect", limitMs: 30_000, evidence: { handedOver: false, headersSeen: false } },
      });
      expect(server.requests).toHaveLength(1);
    });

    it("a verdict after longer than the idle deadline makes it again", async () => {
      const { clock, asked, verdict, client, signer, server } = await asking();
      const made = client.callTool(call, { contract });
      await asked;
      clock.step(60_000);
      verdict(true);
      await expect(made).resolves.toEqual({ content: [] });
      expect([signer.asked.length, server.requests.length]).toEqual([2, 2]);
    });

    it("the caller's abort ends it with the caller's reason", async () => {
      const { server, asked, verdict, client } = await asking();
      const caller = new AbortController();
      const made = client.callTool(call, { contract, signal: caller.signal });
      const ended = outcome(made);
      const { signal } = await asked;
      caller.abort("enough");
      expect(signal.aborted).toBe(true);
      expect(await ended).toBe("enough");
      expect(deliveryOf(made)).toBe("answered");
      verdict(true);
      await client.close();
      expect(server.requests).toHaveLength(1);
    });

    it("the end of the client ends it", async () => {
      const { server, asked, verdict, client } = await asking();
      const ended = outcome(client.callTool(call, { contract }));
      const { signal } = await asked;
      await client.close();
      expect(signal.aborted).toBe(true);
      expect(await ended).toMatchObject({ code: "cancelled", delivery: "answered", details: { evidence: answered } });
      verdict(true);
      expect(server.requests).toHaveLength(1);
    });

    it("it keeps its turn", async () => {
      const { server, asked, verdict, client } = await asking({ maxConcurrentRequests: 1 });
      const one = client.callTool(call, { contract });
      await asked;
      const two = client.callTool({ name: "second" }, { contract });
      verdict(true);
      await Promise.all([one, two]);
      expect(server.requests.map((request) => JSON.parse(request.body).params.name)).toEqual(["t", "t", "second"]);
      expect(server.requests.map(bearer)).toEqual(["Bearer 1", "Bearer 2", "Bearer 3"]);
    });
  });

  it("what onRefused fails with is what the request fails with, as far as it had gone", async () => {
    const server = await serve((request) => request.socket.write(refusal()));
    const details = { endpoint: server.url, reason: "no_token", scopes: ["a"] } as const;
    const own = new RemoteConnectorError("sign_in_required", { message: "Sign in.", details });
    const cause = new Error("locked");
    const seen = { handedOver: true, headersSeen: true, attempts: 1 };
    const throwing = (error: Error): never => {
      throw error;
    };
    const rejecting = async (error: Error): Promise<boolean> => throwing(error);
    for (const verdict of [throwing, rejecting]) {
      const failed = (error: Error): Promise<unknown> =>
        outcome(connect(server.url, { authorize: new Signer(() => verdict(error)) }).callTool(call, { contract }));
      expect(await failed(own)).toMatchObject({
        code: "sign_in_required",
        delivery: "answered",
        details: { ...details, evidence: seen },
      });
      expect(await failed(cause)).toMatchObject({
        code: "authorize_failed",
        delivery: "answered",
        details: { reason: "the authorizer threw", evidence: seen },
        cause,
      });
    }
    expect(server.requests).toHaveLength(4);
  });

  it("what is known is what is known of the request that is made again", async () => {
    const server = await serve(first(refusal(), ({ socket }) => void socket.destroy()));
    const broken = await outcome(connect(server.url, { authorize: new Signer() }).callTool(call, { contract }));
    expect(broken).toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { evidence: { handedOver: true, headersSeen: false } },
    });
    const other = await serve(first(refusal()));
    let asked = 0;
    const authorize = {
      authorize: () => {
        asked += 1;
        if (asked === 2) throw new Error("locked");
        return undefined;
      },
      onRefused: () => true,
    };
    expect(await outcome(connect(other.url, { authorize }).callTool(call, { contract }))).toMatchObject({
      code: "authorize_failed",
      delivery: "not_sent",
      details: { evidence: { handedOver: false, headersSeen: false } },
    });
    expect(other.requests).toHaveLength(1);
  });

  it("a second request that is not admitted is not made", async () => {
    const server = await serve(first(refusal()));
    let admitted = 0;
    const admit = (): string | undefined => ((admitted += 1) === 2 ? "fenced" : undefined);
    const made = connect(server.url, { authorize: new Signer() }).callTool(call, { contract, admit });
    await expect(made).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    expect(server.requests).toHaveLength(1);
  });

  it("a body that stalls is waited for a second, then the authorizer is asked", async () => {
    const clock = new FakeClock();
    const stall = refusal(401, CHALLENGE, "no entry").subarray(0, -3);
    for (const again of [true, false]) {
      const server = await serve(first(stall));
      const signer = new Signer(() => again);
      const client = connect(server.url, { authorize: signer, clock, idleTimeoutMs: 60_000 });
      const ended = outcome(client.callTool(call, { contract }));
      // The wait for the body is what is due first.
      await expect.poll(() => clock.dueInMs).toBe(1_000);
      clock.step(999);
      expect(signer.refused).toHaveLength(0);
      await clock.advance(1);
      if (again) expect(await ended).toEqual({ content: [] });
      else expect(await ended).toMatchObject({ details: { status: 401, snippet: "no en" } });
      expect(signer.refused).toHaveLength(1);
    }
  });

  it("the total deadline on the way of a refusal delivers it, and asks nobody", async () => {
    const clock = new FakeClock();
    const server = await serve(first(refusal(401, CHALLENGE, "no entry").subarray(0, -3)));
    const signer = new Signer();
    const client = connect(server.url, { authorize: signer, clock });
    const ended = outcome(client.callTool(call, { contract, totalTimeoutMs: 900 }));
    await expect.poll(() => clock.pending).toBe(2);
    clock.step(900);
    expect(await ended).toMatchObject({ code: "unexpected_answer", details: { status: 401 } });
    expect([signer.refused.length, clock.pending]).toEqual([0, 0]);
  });

  it("redirects begin at the endpoint again", async () => {
    const pathOf = ({ head }: RawRequest): string => head.split(" ")[1] ?? "";
    const refusals = [refusal(), refusal()];
    const server = await serve((request) => {
      const hop = Number(/\d$/.exec(pathOf(request))?.[0] ?? 0);
      if (hop < 3) {
        const headers = `Location: /hop/${String(hop + 1)}\r\n`;
        request.socket.write(httpAnswer("", { status: 307, headers }));
      } else first(...refusals.splice(0, 1))(request);
    });
    const signer = new Signer();
    await connect(server.url, { authorize: signer }).callTool(call, { contract });
    const trail = ["/mcp", "/hop/1", "/hop/2", "/hop/3"];
    expect(server.requests.map(pathOf)).toEqual([...trail, ...trail, ...trail]);
    expect([signer.asked.length, signer.refused.length, signer.answered.length]).toEqual([3, 2, 1]);
  });

  it("an authorizer that only hears is told of every answer, and decides nothing", async () => {
    const moved = httpAnswer("", { status: 307, headers: "Location: /moved\r\n" });
    const server = await serve(first(refusal(401), httpAnswer("no", { status: 500 }), moved));
    const heard: ResponseHeaders[] = [];
    const client = connect(server.url, {
      authorize: {
        authorize: () => undefined,
        onAnswered: (_, headers) => {
          heard.push(headers);
          throw new Error("It fails.");
        },
      },
    });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({ details: { status: 401 } });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({ details: { status: 500 } });
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [] });
    expect(heard.map((headers) => headers["content-length"])).toEqual(["2", "2", expect.any(String)]);
    expect(heard[0]?.["www-authenticate"]).toBe('Bearer realm="a"');
    expect(server.requests).toHaveLength(4);
  });

  it("headers from sources are read again, and are not the authorizer's", async () => {
    const server = await serve(first(refusal()));
    const signer = new Signer();
    let read = 0;
    const headers = { "X-Read": () => String((read += 1)) };
    await connect(server.url, { authorize: signer, headers }).callTool(call, { contract });
    expect(server.requests.map((request) => [bearer(request), request.header("x-read")])).toEqual([
      ["Bearer 1", "1"],
      ["Bearer 2", "2"],
    ]);
    expect(signer.refused[0]?.sent).toEqual({ Authorization: "Bearer 1" });
    expect(signer.answered).toHaveLength(1);
  });

  it("what an authorizer says that is not true is no", async () => {
    const server = await serve((request) => request.socket.write(refusal()));
    for (const odd of ["undefined", "null", "1", '"yes"']) {
      const verdict = odd === "undefined" ? undefined : JSON.parse(odd);
      for (const given of [verdict, Promise.resolve(verdict)]) {
        const authorize = { authorize: () => undefined, onRefused: () => given };
        const made = connect(server.url, { authorize }).callTool(call, { contract });
        await expect(made).rejects.toMatchObject({ details: { status: 401 } });
      }
    }
    expect(server.requests).toHaveLength(8);
  });

  it("the owner hears of the answer alone, in order: of a refusal only when it is that", async () => {
    for (const again of [true, false]) {
      const server = await serve(first(refusal()));
      const config = resolveTransportOptions({ exchange: create(server.url) });
      const endpoint = new HttpEndpoint(new URL(server.url), config, new Signer(() => again));
      opened.push(endpoint);
      const heard: unknown[] = [];
      const over = pending<undefined>();
      const limits = { connectTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
      const request = {
        method: "POST",
        operation: "notifications/cancelled",
        headers: ["X-Own", "1"],
        body: '{"id":1}',
        acceptsStream: false,
        discardsBody: true,
        attempt: 1,
        limits,
      } as const;
      const http = endpoint.begin(
        { ...request, headers: [...request.headers] },
        {
          onHead: ({ status }) => void heard.push(["head", status]),
          onBody: ({ status }, body, whole) => {
            heard.push(["body", status, new TextDecoder().decode(body), whole]);
            over.settle(undefined);
          },
          onEvent: () => undefined,
          onStreamEnd: () => undefined,
          onFailure: (error) => over.settle(void heard.push(error)),
          onAbort: () => undefined,
        },
      );
      await over.promise;
      const delivered = [
        ["head", 401],
        ["body", 401, "no", true],
      ];
      expect(heard).toEqual(again ? [["body", 200, "", true]] : delivered);
      expect(http.evidence().attempts).toBe(1);
    }
  });

  it("an owner that has enough of a refusal's head is done with it", async () => {
    const server = await serve(first(refusal()));
    const config = resolveTransportOptions({ exchange: create(server.url), maxConcurrentRequests: 1 });
    const endpoint = new HttpEndpoint(new URL(server.url), config, new Signer(() => Promise.resolve(false)));
    opened.push(endpoint);
    const seen = pending<undefined>();
    const limits = { connectTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
    const nothing = (): undefined => undefined;
    const http = endpoint.begin(
      { method: "GET", operation: "GET", headers: [], body: null, acceptsStream: true, attempt: 1, limits },
      {
        onHead: () => {
          http.finish();
          seen.settle(undefined);
        },
        onBody: () => expect.unreachable(),
        onEvent: nothing,
        onStreamEnd: nothing,
        onFailure: () => expect.unreachable(),
        onAbort: nothing,
      },
    );
    await seen.promise;
    expect(endpoint.draining).toBe(0);
    // The turn is free again.
    const body = Buffer.from('{"id":7}');
    const answer = await httpSend(endpoint, "POST", new Uint8Array(body), { headers: { "X-A": "1" } });
    expect(answer.status).toBe(200);
  });
});

describe("A-8: a request that was refused, over a single connection", () => {
  const overOne = (endpoint: string, authorize: Authorizer): ModernStreamableHTTPClient => {
    const exchange = createUndiciExchange({ origin: new URL(endpoint).origin, maxConnections: 1 });
    const made = new ModernStreamableHTTPClient({
      endpoint,
      exchange,
      authorize,
      clientInfo: { name: "test", version: "1" },
    });
    opened.push(made);
    return made;
  };

  it.each([
    ["at once", () => true],
    ["later", () => Promise.resolve(true)],
  ])("is made again on it, %s", async (_, verdict) => {
    const server = await serve(first(refusal(), refusal(403)));
    await overOne(server.url, new Signer(verdict)).callTool(call, { contract });
    expect([server.requests.length, server.connections]).toEqual([3, 1]);
  });

  it("leaves it to others while its authorizer is asked", async () => {
    const server = await serve(first(refusal()));
    const asked = pending<undefined>();
    const verdict = pending<boolean>();
    const signer = new Signer(() => {
      asked.settle(undefined);
      return verdict.promise;
    });
    const client = overOne(server.url, signer);
    const refused = client.callTool(call, { contract });
    await asked.promise;
    await client.callTool({ name: "second" }, { contract });
    verdict.settle(true);
    await refused;
    expect(server.requests.map((request) => JSON.parse(request.body).params.name)).toEqual(["t", "second", "t"]);
    expect(server.connections).toBe(1);
  });

  it("F-19: each time is an exchange of its own", async () => {
    const events: unknown[] = [];
    for (const [what, channel] of Object.entries(EXCHANGE_CHANNELS)) {
      const listener = (message: unknown): void => {
        const { exchange, status, outcome: ended, redirects } = Object(message);
        events.push([what, exchange, status ?? ended ?? redirects]);
      };
      subscribe(channel, listener);
      opened.push({ close: () => unsubscribe(channel, listener) });
    }
    const server = await serve(first(refusal()));
    await overOne(server.url, new Signer()).callTool(call, { contract });
    const exchange = Number(Object(events[0])[1]);
    expect(events).toEqual([
      ["connect", exchange, 0],
      ["sent", exchange, undefined],
      ["head", exchange, 401],
      ["end", exchange, "answered"],
      ["connect", exchange + 1, 0],
      ["sent", exchange + 1, undefined],
      ["head", exchange + 1, 200],
      ["end", exchange + 1, "answered"],
    ]);
  });

  it.each([
    ["a text", "Bearer a", "authorize"],
    ["nothing", null, "authorize"],
    ["an object that authorizes nothing", {}, "authorize"],
    ["a hook that can't be called", { authorize: (): undefined => undefined, onRefused: true }, "authorize.onRefused"],
    ["another one", { authorize: (): undefined => undefined, onAnswered: {} }, "authorize.onAnswered"],
  ])("%s is refused as an authorizer, when the client is made", (_, authorize, option) => {
    const endpoint = "http://127.0.0.1:9/";
    expect(() => overOne(endpoint, Object(Object.values({ authorize }))[0])).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
    );
  });
});
