import type { AccountLogins } from "../../../../src/connector-host/factories/index.js";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.js";
import type { Exchange, ExchangeHandler, ExchangeRequest } from "../../../../src/transport/index.js";

/** A request as it reached the gateway. */
export interface SeenRequest {
  readonly origin: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
}

export interface GatewayAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON-RPC result. */
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** In place of a JSON-RPC response. */
  readonly body?: string;
  /** The connection can't be made. */
  readonly refusesConnection?: true;
}

/** How the gateway answers; `undefined` never does. */
export type Answering = (request: SeenRequest) => GatewayAnswer | undefined;

/** A gateway inside the process, behind the exchange port: the client in front of it is the real one, without a socket. */
export class MemoryGateway {
  readonly requests: SeenRequest[] = [];
  /** Exchanges that were made and not destroyed. */
  open = 0;
  answer: Answering;

  constructor(answer: Answering) {
    this.answer = answer;
  }

  get methods(): readonly string[] {
    return this.requests.map((request) => request.method);
  }

  readonly createExchange = (origin: string): Exchange => {
    this.open += 1;
    let isDestroyed = false;
    return {
      origin,
      capabilities: new Set(["admitsSynchronously", "connectDeadline", "tls"]),
      dispatch: (request, handler) => queueMicrotask(() => this.#serve(origin, request, handler)),
      destroy: () => {
        if (!isDestroyed) this.open -= 1;
        isDestroyed = true;
        return Promise.resolve();
      },
    };
  };

  #serve(origin: string, request: ExchangeRequest, handler: ExchangeHandler): void {
    const aborted: Error[] = [];
    const control = { abort: (reason: Error) => void aborted.push(reason) };
    const seen = readRequest(origin, request);
    const answer = this.answer(seen);
    if (answer?.refusesConnection === true) {
      handler.onResponseError(control, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
      return;
    }
    handler.onRequestStart(control);
    const [refused] = aborted;
    if (refused !== undefined) return handler.onResponseError(control, refused);
    this.requests.push(seen);
    if (answer === undefined) return;
    handler.onResponseStart(control, answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    handler.onResponseData(control, Buffer.from(answer.body ?? respond(seen, answer)));
    handler.onResponseEnd(control);
  }
}

function respond({ body }: SeenRequest, { result, error }: GatewayAnswer): string {
  return JSON.stringify({ jsonrpc: "2.0", id: body["id"], ...(error === undefined ? { result } : { error }) });
}

function readRequest(origin: string, { path, headers, body }: ExchangeRequest): SeenRequest {
  const named = new Map<string, string>();
  for (let index = 0; index < headers.length; index += 2) {
    named.set((headers[index] ?? "").toLowerCase(), headers[index + 1] ?? "");
  }
  const message: unknown = JSON.parse(typeof body === "string" ? body : "null");
  if (!isJsonObject(message)) throw new Error("the client sent no object");
  const params = message["params"];
  const method = message["method"];
  return {
    origin,
    path,
    headers: named,
    body: message,
    method: typeof method === "string" ? method : "",
    params: isJsonObject(params) ? params : {},
  };
}

/** The accounts that are signed in, by id, and a count of the credentials that were asked for. */
export class TestLogins implements AccountLogins {
  readonly generations = new Map<string, number>([["acc-1", 7]]);
  asked = 0;

  loginGeneration(accountId: string): number | undefined {
    return this.generations.get(accountId);
  }

  authorizerFor(accountId: string, loginGeneration: number) {
    return (): Readonly<Record<string, string>> => {
      this.asked += 1;
      if (this.generations.get(accountId) !== loginGeneration) throw new Error("another login");
      return { Cookie: `session=${accountId}-${String(loginGeneration)}-${String(this.asked)}` };
    };
  }
}

/** What a well-behaved connector says of itself. */
export const DISCOVERED: JsonObject = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: { listChanged: true } },
  ttlMs: 0,
  cacheScope: "private",
};
