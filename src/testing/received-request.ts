import { isJsonObject, isRequestId, type JsonObject, type RequestId } from "../protocol/index.js";
import type { RawRequest } from "./request-reader.js";

/** A request that the server received: what its bytes say, and what of it is JSON-RPC. */
export class ReceivedRequest {
  /** The HTTP method. */
  readonly verb: string;
  /** The target as it was sent: path and query. */
  readonly target: string;
  /** Names and values as they came, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** The connection that it came on, counted from 0. */
  readonly connection: number;
  /** The body's JSON; `undefined` when it is none. */
  readonly message: unknown;

  constructor(raw: RawRequest, connection: number) {
    this.verb = raw.verb;
    this.target = raw.target;
    this.headers = raw.headers;
    this.body = raw.body;
    this.connection = connection;
    this.message = parse(this.text);
  }

  /** The body as text. */
  get text(): string {
    return Buffer.from(this.body).toString("utf8");
  }

  /** The target without its query. */
  get path(): string {
    return this.target.split("?", 1)[0] ?? "";
  }

  /** The first value of a header, by any case of its name. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    return this.headers.find(([each]) => each.toLowerCase() === wanted)?.[1];
  }

  /** The JSON-RPC method of the message, when it is one object and has one. */
  get method(): string | undefined {
    const method = this.#member("method");
    return typeof method === "string" ? method : undefined;
  }

  /** The id of the message; `undefined` for a notification. */
  get id(): RequestId | undefined {
    const id = this.#member("id");
    return isRequestId(id) ? id : undefined;
  }

  /** The `params` of the message; empty when it has none. */
  get params(): JsonObject {
    const params = this.#member("params");
    return isJsonObject(params) ? params : {};
  }

  #member(name: string): unknown {
    return isJsonObject(this.message) ? this.message[name] : undefined;
  }
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
