import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** The exchanges of a sign-in and of what follows it, in their order. */
export type Step = "mcp" | "resource" | "server" | "register" | "authorize" | "token" | "revoke";

/** What becomes of one exchange. `drop` and `cut`: the server has acted, and its answer is lost before the head or in its body. */
export type WireFault =
  | { readonly kind: "drop" | "stall" | "flood" }
  /** `at`: bytes of the body that arrive; negative: but so many. */
  | { readonly kind: "cut"; readonly at: number }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

/** What is more than the least limit of an answer. */
const FLOOD = Buffer.alloc(256 * 1024, " ");

/**
 * Stands before an MCP server and its authorization server, at one origin, and hands on what comes, but for faults. It can go down, so that
 * connections are refused, and come up again where it was.
 */
export class FaultyFront {
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));
  readonly #faults = new Map<Step, { readonly fault: WireFault; left: number }>();
  /** Every exchange that began, in order. */
  readonly asked: Step[] = [];
  /** Answers that are not coming. */
  stalling = 0;
  /** Where the MCP server and the authorization server are. */
  backends = { resource: "", issuer: "" };
  #port = 0;
  #goesDownAfter: Step | undefined;

  static async start(): Promise<FaultyFront> {
    const front = new FaultyFront();
    await front.up();
    return front;
  }

  get origin(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  add(step: Step, fault: WireFault, times: number): void {
    this.#faults.set(step, { fault, left: times });
  }

  /** Nobody listens any more once an exchange of this step was answered. */
  goDownAfter(step: Step): void {
    this.#goesDownAfter = step;
  }

  down(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
  }

  /** Takes all faults away. */
  async heal(): Promise<void> {
    this.#faults.clear();
    this.#goesDownAfter = undefined;
    if (!this.#server.listening) await this.up();
  }

  async up(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    this.#port = typeof address === "object" && address !== null ? address.port : 0;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method, url: target = "/" } = request;
    const step = stepOf(target);
    this.asked.push(step);
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const fault = this.#take(step);
    if (fault !== undefined && this.#standIn(fault, response)) return;
    const { issuer, resource } = this.backends;
    const backend = step === "mcp" || step === "resource" ? resource : issuer;
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const answer = await fetch(new URL(target, backend), {
      ...(method === undefined ? {} : { method }),
      headers: Object.entries(headers).flatMap(([name, value]) =>
        typeof value === "string" && !["connection", "content-length", "host"].includes(name) ? [[name, value]] : [],
      ),
      body,
      redirect: "manual",
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (fault?.kind === "drop") {
      request.socket.destroy();
      return;
    }
    const goesDown = this.#goesDownAfter === step;
    const kept = [...answer.headers].filter(
      ([name]) => !["connection", "keep-alive", "transfer-encoding"].includes(name),
    );
    response.writeHead(answer.status, {
      ...Object.fromEntries(kept),
      "content-length": bytes.length,
      ...(goesDown ? { connection: "close" } : {}),
    });
    if (fault?.kind === "cut") {
      // One read of the other side's, so that what arrives arrives before the end.
      response.write(bytes.subarray(0, fault.at < 0 ? bytes.length + fault.at : fault.at), () =>
        request.socket.destroySoon(),
      );
      return;
    }
    response.end(bytes);
    if (goesDown) this.down();
  }

  /** Answers in place of the server, or says that it has to be asked. */
  #standIn(fault: WireFault, response: ServerResponse): boolean {
    switch (fault.kind) {
      case "stall":
        this.stalling += 1;
        response.once("close", () => (this.stalling -= 1));
        return true;
      case "answer": {
        const { body = "", headers: own, status } = fault;
        response.writeHead(status, { "Content-Type": "application/json", ...own }).end(body);
        return true;
      }
      case "flood":
        response.writeHead(200, { "Content-Type": "application/json" }).end(FLOOD);
        return true;
      case "cut":
      case "drop":
        return false;
    }
  }

  #take(step: Step): WireFault | undefined {
    const waiting = this.#faults.get(step);
    if (waiting === undefined || waiting.left < 1) return undefined;
    waiting.left -= 1;
    return waiting.fault;
  }
}

function stepOf(target: string): Step {
  const path = new URL(target, "http://unused").pathname;
  if (path.startsWith("/.well-known/oauth-protected-resource")) return "resource";
  if (path.startsWith("/.well-known/")) return "server";
  for (const step of ["register", "authorize", "token", "revoke"] as const) if (path === `/${step}`) return step;
  return "mcp";
}
