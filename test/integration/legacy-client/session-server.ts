import {
  type Answer,
  answerError,
  answerResult,
  answerStatus,
  type Handler,
  type ReceivedRequest,
} from "../../../src/testing/index.js";

export interface SessionServerOptions {
  /** How many requests a session lives for; the handshake is not counted. */
  readonly lives?: number;
  /** How a session that is gone is refused. */
  readonly refuse?: (request: ReceivedRequest) => Answer;
  readonly revision?: string;
  readonly capabilities?: (session: number) => object;
  /** Answers a request with an id. Default: an empty result. */
  readonly answer?: Handler;
  /** Answers a GET. Default: 405. */
  readonly listen?: Handler;
}

/** A server that gives session after session, each for a while. */
export class SessionServer {
  readonly #options: SessionServerOptions;
  readonly #lives = new Map<string, number>();
  initializes = 0;
  deletes = 0;

  constructor(options: SessionServerOptions = {}) {
    this.#options = options;
  }

  /** The server forgets all sessions. */
  forget(): void {
    this.#lives.clear();
  }

  readonly handle: Handler = async (request) => {
    const { lives = Infinity, refuse = notFound, revision = "2025-11-25", listen } = this.#options;
    if (request.method === "initialize") {
      this.initializes += 1;
      const id = `s-${String(this.initializes)}`;
      this.#lives.set(id, lives);
      const capabilities = this.#options.capabilities?.(this.initializes) ?? { tools: {} };
      const introduction = { protocolVersion: revision, capabilities, serverInfo: { name: "s", version: "1" } };
      return answerResult(introduction, { headers: { "Mcp-Session-Id": id } });
    }
    const id = request.header("Mcp-Session-Id") ?? "";
    const left = this.#lives.get(id);
    if (left === undefined) return refuse(request);
    if (request.verb === "DELETE") {
      this.deletes += 1;
      this.#lives.delete(id);
      return answerStatus(200);
    }
    if (request.verb === "GET") return listen === undefined ? answerStatus(405) : listen(request);
    if (request.id === undefined || request.method === undefined) return answerStatus(202);
    if (left <= 1) this.#lives.delete(id);
    else this.#lives.set(id, left - 1);
    return this.#options.answer?.(request) ?? answerResult({ content: [] });
  };
}

function notFound(): Answer {
  return answerError(-32001, "Session not found", { status: 404, id: "null" });
}
