import { AUTHORITY, CLIENT_CERTIFICATE, CLIENT_KEY } from "../../support/certificates.js";
import type {
  ModernStreamableHTTPClient,
  ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import type { ErrorCode } from "../../../src/errors.js";
import { httpAnswer, idOf, type RawAnswerer, type RawRequest } from "../../support/raw-server.js";

/** Every secret that is planted has this in it. */
export const SENTINEL = "SENTINEL";
/** The variable that a header is read from. */
export const VARIABLE = "REMOTE_CONNECTOR_TEST_SECRET";

type Options = Partial<ModernStreamableHTTPClientOptions>;

/** Secrets wherever a client takes one. */
export const secretOptions = (file: string): Options => ({
  headers: {
    "X-Literal": "SENTINEL-literal",
    "X-Env": { env: VARIABLE },
    "X-File": { file },
    "X-Function": () => "SENTINEL-function",
  },
  authorize: () => ({ Authorization: "Bearer SENTINEL-authorize" }),
  meta: { "example.com/client": "SENTINEL-client-meta" },
  ca: AUTHORITY,
  clientCertificate: { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY, passphrase: "SENTINEL-passphrase" },
  maxReadRetries: 0,
});

const contract = { parameters: [{ header: "Mcp-Param-A", path: ["a"] }] };
const secretCall = { name: "t", arguments: { a: "SENTINEL-mirrored", b: "SENTINEL-argument" } };

/** Secrets wherever a call takes one. */
export const callSecretly = (client: ModernStreamableHTTPClient, options: object = {}): Promise<unknown> =>
  client.callTool(secretCall, {
    contract,
    meta: { "example.com/call": "SENTINEL-call-meta" },
    onProgress: () => undefined,
    ...options,
  });

/** The same with answers to what a server asked. */
const answerSecretly = (client: ModernStreamableHTTPClient): Promise<unknown> =>
  callSecretly(client, { requestState: "SENTINEL-state", inputResponses: { k: { content: "SENTINEL-response" } } });

/** One way to fail: what the server does, and with what else the client is made and called. */
export interface Scene {
  readonly code: ErrorCode;
  readonly answer?: RawAnswerer;
  readonly options?: Options;
  readonly call?: (client: ModernStreamableHTTPClient) => Promise<unknown>;
  /** What is thrown is the caller's own, and is handed back as the cause. */
  readonly ownCause?: true;
}

const HEADERS = "Set-Cookie: s=SENTINEL-cookie\r\nX-Peer: SENTINEL-peer-header\r\n";
/** A body whose beginning may be shown, and whose rest may not. */
const LONG = `${"x".repeat(512)}SENTINEL-body`;

const say =
  (
    body: string | ((request: RawRequest) => string),
    given: { status?: number; type?: string; headers?: string } = {},
  ) =>
  (request: RawRequest): void => {
    const text = typeof body === "string" ? body : body(request);
    request.socket.write(httpAnswer(text, { ...given, headers: HEADERS + (given.headers ?? "") }));
  };
const member =
  (rest: string) =>
  (request: RawRequest): string =>
    `{"jsonrpc":"2.0","id":${String(idOf(request))},${rest}}`;
const asking = say(
  member(
    `"result":{"resultType":"input_required","requestState":"SENTINEL-asked-state","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"SENTINEL-question","requestedSchema":{"type":"object","properties":{"n":{"type":"number"}}}}}}}`,
  ),
);
const ownFailure = (): never => {
  throw new Error("SENTINEL-own");
};
const filling = (content: Record<string, unknown>): Options => ({
  handlers: { elicitation: { form: () => ({ action: "accept", content }) } },
});
const circular = (): object => {
  const value: Record<string, unknown> = { secret: "SENTINEL-circular" };
  value["self"] = value;
  return value;
};

const statuses = [400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 421, 428, 429, 499, 500, 501, 502, 503, 504, 599];
const redirects = [301, 302, 303, 307, 308];

export const SCENES: Readonly<Record<string, Scene>> = {
  ...Object.fromEntries(
    statuses.map((status): [string, Scene] => [
      `the status ${String(status)}`,
      { code: "unexpected_answer", answer: say(LONG, { status, type: "text/html" }) },
    ]),
  ),
  ...Object.fromEntries(
    redirects.map((status): [string, Scene] => {
      const headers = "Location: https://SENTINEL-u:SENTINEL-p@other.example/there?k=SENTINEL-target#SENTINEL-f\r\n";
      return [`a redirect by ${String(status)}`, { code: "redirect_refused", answer: say(LONG, { status, headers }) }];
    }),
  ),
  "redirects without end": {
    code: "redirect_refused",
    answer: say("", { status: 308, headers: "Location: /mcp?key=SENTINEL-next\r\n" }),
  },
  "a body of another media type": { code: "unexpected_answer", answer: say(LONG, { type: "text/html" }) },
  "a body that is no JSON": { code: "unexpected_answer", answer: say(LONG) },
  "a coding that nobody asked for": {
    code: "unexpected_answer",
    answer: say(LONG, { headers: "Content-Encoding: SENTINEL-coding\r\n" }),
  },
  "a message that is none": { code: "invalid_answer", answer: say('{"secret":"SENTINEL-member"}') },
  "another id": { code: "invalid_answer", answer: say('{"jsonrpc":"2.0","id":"SENTINEL-id","result":{}}') },
  "a result without its members": {
    code: "invalid_answer",
    answer: say(member('"result":{"resultType":"input_required","secret":"SENTINEL-result"}')),
  },
  "a stream that ends": {
    code: "stream_ended",
    answer: (request) =>
      request.socket.end(
        httpAnswer(`data: SENTINEL-junk\n\ndata: {"jsonrpc":"2.0","id":"SENTINEL-x","result":{}}\n\n`, {
          type: "text/event-stream",
          framing: "chunked",
        }),
      ),
  },
  "a body that is cut": {
    code: "connection_broken",
    answer: ({ socket }) =>
      socket.end(
        `HTTP/1.1 200 X\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n"SENTINEL-cut`,
      ),
  },
  "a reset": { code: "connection_broken", answer: ({ socket }) => void socket.resetAndDestroy() },
  "bytes that are no HTTP": {
    code: "connection_broken",
    answer: ({ socket }) => socket.end("HTTP/1.1 200 X\r\nContent-Length: SENTINEL-length\r\n\r\nSENTINEL-raw"),
  },
  "a body too large": { code: "limit_exceeded", answer: say(LONG), options: { maxBodyBytes: 600 - 90 } },
  "an event too long": {
    code: "limit_exceeded",
    answer: say(`data: ${LONG}\n\n`, { type: "text/event-stream" }),
    options: { maxEventBytes: 100 },
  },
  "a stream too long": {
    code: "limit_exceeded",
    answer: say(`data: ${LONG}\n\n`, { type: "text/event-stream" }),
    options: { maxStreamBytes: 520 },
  },
  silence: { code: "timeout", options: { idleTimeoutMs: 40 }, answer: () => undefined },
  "silence for long": { code: "timeout", options: { totalTimeoutMs: 40 }, answer: () => undefined },
  "an authorizer that hangs": {
    code: "timeout",
    options: { connectTimeoutMs: 40, authorize: () => new Promise(() => undefined) },
  },
  "no turn": {
    code: "limit_exceeded",
    options: { maxConcurrentRequests: 1, maxQueuedRequests: 0 },
    answer: () => undefined,
    call: (client) => {
      callSecretly(client).catch(() => undefined);
      return callSecretly(client);
    },
  },
  "an authorizer that throws": { code: "authorize_failed", options: { authorize: ownFailure }, ownCause: true },
  "an authorizer whose value can't be sent": {
    code: "invalid_header",
    options: { authorize: () => ({ Authorization: "SENTINEL\n" }) },
  },
  "a header function that throws": {
    code: "invalid_header",
    options: { headers: { "X-A": ownFailure } },
    ownCause: true,
  },
  "a header function whose value can't be sent": {
    code: "invalid_header",
    options: { headers: { "X-A": () => "SENTINEL\n" } },
  },
  "a header file that is not there": { code: "invalid_header", options: { headers: { "X-A": { file: "/nowhere" } } } },
  "a check that throws": {
    code: "not_admitted",
    call: (client) => callSecretly(client, { admit: ownFailure }),
    ownCause: true,
  },
  "an argument without a JSON form": {
    code: "invalid_argument",
    call: (client) => callSecretly(client, { inputResponses: circular() }),
  },
  "_meta that clashes": {
    code: "invalid_argument",
    call: (client) => callSecretly(client, { meta: { progressToken: "SENTINEL-token" } }),
  },
  "an option that a call has not": {
    code: "invalid_options",
    call: (client) => callSecretly(client, { signle: "SENTINEL-value" }),
  },
  "a limit that is none": {
    code: "invalid_options",
    call: (client) => callSecretly(client, { idleTimeoutMs: "SENTINEL-ms" }),
  },
  "input that nobody gives": { code: "input_required", answer: asking },
  "a handler that throws": {
    code: "handler_failed",
    answer: asking,
    options: { handlers: { elicitation: { form: ownFailure } } },
    ownCause: true,
  },
  "content that does not fit": { code: "handler_failed", answer: asking, options: filling({ n: "SENTINEL-content" }) },
  "rounds without end": {
    code: "limit_exceeded",
    answer: asking,
    options: { ...filling({ n: 1 }), maxInputRounds: 2 },
  },
  "a link that nobody should follow": {
    code: "invalid_url",
    answer: say(
      member(
        `"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"http://SENTINEL-u:SENTINEL-p@x.example/?t=SENTINEL-t"}}}}`,
      ),
    ),
    options: { handlers: { elicitation: { url: () => ({ action: "accept" }) } } },
  },
  "answers that are refused": { code: "unexpected_answer", answer: say(LONG, { status: 400 }), call: answerSecretly },
  "no connection": {
    code: "connect_failed",
    options: { lookup: (_name, _options, done) => done(new Error("no"), "") },
  },
  "a client that is closed": {
    code: "cancelled",
    answer: () => undefined,
    call: (client) => {
      const pending = callSecretly(client);
      void client.close();
      return pending;
    },
  },
};
