import type { IncomingMessage, ServerResponse } from "node:http";
import { RemoteConnectorError } from "../../errors.js";
import { type HttpListener, listen, parseJsonBody, readBody, whenGone } from "../../serving/index.js";
import type { Clock } from "../../transport/index.js";
import { type AdminLink, type AdminPlane, answerVerb, MAX_VERB_BYTES } from "../admin/index.js";
import { type AdminSession, AdminSessions, isKeyOf } from "./admin-sessions.js";
import { classifyAdminRequest, cookieName, LINK_PARAMETER, PAGE_PATH } from "./classify-request.js";
import { LINK_MS, OneTimeLinks } from "./one-time-links.js";
import { PAGE_HEADERS } from "./page-headers.js";
import { noticePage, openedPage, statusPage } from "./status-page.js";

export interface AdminWebOptions {
  readonly plane: () => AdminPlane;
  readonly clock: Clock;
  readonly wallClock: { now(): number };
  /** Told of what is a fault of this process. */
  readonly onFault: (error: unknown) => void;
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

const REQUEST_TIMEOUT_MS = 5_000;
/** Of requests that say nothing in their body, and of those that are refused. */
const MAX_BODY_BYTES = 4_096;

/**
 * The admin plane in a browser. Its listener is one of its own, on a free port of 127.0.0.1: no page that an agent's endpoint or another
 * program could serve is of its origin. It listens from the first link until neither a link nor a session is left.
 */
export class AdminWeb {
  readonly #options: AdminWebOptions;
  readonly #links: OneTimeLinks;
  readonly #sessions: AdminSessions;
  #listening: Promise<HttpListener> | undefined;
  readonly #ending = new Set<Promise<void>>();
  #stopLooking: () => void = ignore;
  #isClosed = false;

  constructor(options: AdminWebOptions) {
    this.#options = options;
    const parts = { now: () => options.clock.now(), random: options.random };
    this.#links = new OneTimeLinks(parts);
    this.#sessions = new AdminSessions(parts);
  }

  /** Makes a link. Rejects with `listen_failed`, and with `cancelled` after `close`. */
  async open(): Promise<AdminLink> {
    if (this.#isClosed) throw closed();
    const token = this.#links.make();
    const expiresAt = this.#options.wallClock.now() + LINK_MS;
    const { origin } = await this.#listen();
    if (this.#isClosed) throw closed();
    this.#lookLater();
    return { url: `${origin}${PAGE_PATH}?${LINK_PARAMETER}=${token}`, expiresAt };
  }

  /** Ends every link and session, and the listener, within `closeTimeoutMs`. Called again, the earlier end counts. Never rejects. */
  async close(closeTimeoutMs?: number): Promise<void> {
    this.#isClosed = true;
    this.#links.clear();
    this.#sessions.clear();
    this.#stopLooking();
    await this.#end(closeTimeoutMs);
    await Promise.all(this.#ending);
  }

  #listen(): Promise<HttpListener> {
    if (this.#listening !== undefined) return this.#listening;
    const listening: Promise<HttpListener> = listen((request, response) => this.#answer(request, response, listening), {
      headersTimeoutMs: REQUEST_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      onFault: this.#options.onFault,
    });
    this.#listening = listening;
    listening.catch(() => {
      if (this.#listening === listening) this.#listening = undefined;
    });
    return listening;
  }

  /** Looks whether anything is left to listen for, once the last of it is over by itself. */
  #lookLater(): void {
    this.#stopLooking();
    const { clock } = this.#options;
    const endsAt = Math.max(this.#links.endsAt ?? 0, this.#sessions.endsAt ?? 0);
    const leftMs = endsAt - clock.now();
    if (leftMs <= 0) void this.#end();
    else this.#stopLooking = clock.schedule(leftMs, () => this.#lookLater());
  }

  async #end(closeTimeoutMs?: number): Promise<void> {
    const listening = this.#listening;
    if (listening === undefined) return;
    // Kept while the host closes, so that a later call can cut what is left.
    if (!this.#isClosed) this.#listening = undefined;
    const ending = listening
      .then((listener) => listener.close(closeTimeoutMs))
      .catch(ignore)
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    await ending;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, listening: Promise<HttpListener>): Promise<void> {
    const { origin } = await listening;
    const verdict = classifyAdminRequest(request, origin);
    const maxBytes = verdict.kind === "verb" ? MAX_VERB_BYTES : MAX_BODY_BYTES;
    const reading = await readBody(request, { maxBytes });
    if (reading.kind === "aborted") return;
    if (reading.kind === "too_large") return refuse(response, 413, "body_too_large", { Connection: "close" });
    switch (verdict.kind) {
      case "refused":
        return refuse(
          response,
          verdict.status,
          verdict.reason,
          verdict.allow === undefined ? {} : { Allow: verdict.allow },
        );
      case "link":
        return this.#openSession(verdict.token, origin, response);
      case "page":
        return this.#showPage(verdict.cookie, response);
      case "logout":
        return this.#logOut(verdict.cookie, origin, response);
      case "verb": {
        const session = this.#sessionOf(verdict.cookie);
        if (session === undefined) return refuse(response, 401, "no_session");
        if (verdict.key === undefined || !isKeyOf(session, verdict.key)) return refuse(response, 403, "key_refused");
        return this.#doVerb(verdict.name, parseJsonBody(reading.body)?.value, response);
      }
    }
  }

  #openSession(token: string, origin: string, response: ServerResponse): void {
    if (!this.#links.take(token)) {
      const text = "It was opened already, or is older than two minutes. Ask the host for another one.";
      return sendPage(response, 403, noticePage("This link opens nothing", text));
    }
    const { cookie, key } = this.#sessions.begin();
    this.#lookLater();
    sendPage(response, 200, openedPage(key), {
      "Set-Cookie": `${cookieName(origin)}=${cookie}; HttpOnly; SameSite=Strict; Path=${PAGE_PATH}`,
    });
  }

  async #showPage(cookie: string | undefined, response: ServerResponse): Promise<void> {
    if (this.#sessionOf(cookie) === undefined) {
      const text = "There is no session in this browser, or it is over. Ask the host for a link.";
      return sendPage(response, 401, noticePage("No session", text));
    }
    sendPage(response, 200, statusPage(await this.#options.plane().view()));
  }

  #logOut(cookie: string | undefined, origin: string, response: ServerResponse): void {
    const session = cookie === undefined ? undefined : this.#sessions.find(cookie);
    if (session !== undefined) this.#sessions.end(session);
    sendPage(response, 200, noticePage("The session is over", "Ask the host for a link to come back."), {
      "Set-Cookie": `${cookieName(origin)}=; HttpOnly; SameSite=Strict; Path=${PAGE_PATH}; Max-Age=0`,
    });
    // After the answer: it may have been the last session.
    response.once("close", () => {
      if (!this.#isClosed) this.#lookLater();
    });
  }

  async #doVerb(name: string, body: unknown, response: ServerResponse): Promise<void> {
    const { onFault, plane } = this.#options;
    const answer = await answerVerb({ name, body, plane: plane(), signal: whenGone(response), onFault });
    send(response, answer.status, "application/json", answer.body);
  }

  #sessionOf(cookie: string | undefined): AdminSession | undefined {
    const session = cookie === undefined ? undefined : this.#sessions.find(cookie);
    if (session !== undefined) this.#lookLater();
    return session;
  }
}

function refuse(response: ServerResponse, status: number, reason: string, headers: Record<string, string> = {}): void {
  send(response, status, "application/json", JSON.stringify({ error: { reason } }), headers);
}

function sendPage(response: ServerResponse, status: number, html: string, headers: Record<string, string> = {}): void {
  send(response, status, "text/html; charset=utf-8", html, headers);
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(body, "utf8");
  response.writeHead(status, {
    ...PAGE_HEADERS,
    ...headers,
    "Content-Type": type,
    "Content-Length": String(bytes.byteLength),
  });
  response.end(bytes);
}

function closed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The connector host is closed.",
    details: { reason: "host_closed" },
  });
}

function ignore(): void {}
