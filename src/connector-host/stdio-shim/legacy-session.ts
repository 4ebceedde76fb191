import { isJsonObject, memberRange, parseJson } from "../../protocol/index.js";
import type { ResponseHeaders } from "../../transport/index.js";
import { askWhole, type HostAnswer } from "./ask-whole.js";
import { headerOf, type HostLink } from "./host-link.js";

/** The oldest revision, which has no transport over HTTP, and the one by which the host is spoken to in its place. */
const STDIO_REVISION = "2024-11-05";
const STAND_IN_REVISION = "2025-03-26";

/** An `initialize` as the host gets it. */
export interface Handshake {
  /** The revision that the agent offered, when that is none over HTTP. */
  readonly standsFor: string | undefined;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * What the host is asked for an agent's `initialize`. Revision 2024-11-05 exists over stdio alone: the host is asked for its
 * successor, which adds to it and takes nothing away. Pure.
 */
export function handshakeOf(line: Uint8Array, offered: unknown): Handshake {
  if (offered !== STDIO_REVISION) return { standsFor: undefined, body: copyOf(line) };
  const body = withText(line, ["params", "protocolVersion"], STAND_IN_REVISION);
  return { standsFor: STDIO_REVISION, body: copyOf(body) };
}

/** What the host agreed to. */
export interface Agreement {
  /** The revision that the agent is told. */
  readonly revision: string;
  /** That which the host is spoken to in. */
  readonly wireRevision: string;
  readonly sessionId: string | undefined;
  /** The kinds of lists whose changes are announced. */
  readonly announced: readonly string[];
  /** The answer for the agent. */
  readonly line: Uint8Array;
}

/** Reads the host's answer to a handshake; `undefined` when it is no agreement. Pure. */
export function agreementOf(
  { standsFor }: Handshake,
  { status, headers, body }: Omit<HostAnswer, "kind">,
): Agreement | undefined {
  const value = status === 200 ? parseJson(Buffer.from(body).toString("utf8")) : undefined;
  const result = isJsonObject(value) ? value["result"] : undefined;
  const wireRevision = isJsonObject(result) ? result["protocolVersion"] : undefined;
  if (!isJsonObject(result) || typeof wireRevision !== "string") return undefined;
  const isStandIn = standsFor !== undefined && wireRevision === STAND_IN_REVISION;
  return {
    revision: isStandIn ? standsFor : wireRevision,
    wireRevision,
    sessionId: sessionIdIn(headers),
    announced: announcedIn(result["capabilities"]),
    line: isStandIn ? withText(body, ["result", "protocolVersion"], standsFor) : body,
  };
}

/** Source: 2025-11-25, Transports, Session Management. */
function sessionIdIn(headers: ResponseHeaders): string | undefined {
  const id = headerOf(headers, "mcp-session-id");
  return id !== undefined && /^[\x21-\x7e]+$/.test(id) ? id : undefined;
}

function announcedIn(capabilities: unknown): readonly string[] {
  if (!isJsonObject(capabilities)) return [];
  return ["tools", "prompts", "resources"].filter((kind) => {
    const capability = capabilities[kind];
    return isJsonObject(capability) && capability["listChanged"] === true;
  });
}

export interface LegacySessionOptions {
  readonly link: HostLink;
  readonly handshake: Handshake;
  readonly agreement: Agreement;
  readonly onRenewed: () => void;
}

const WITH_EFFECT: ReadonlySet<string> = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** How often something is told that does no harm when it is heard twice. */
const MAX_TELLINGS = 3;

/** Requests whose effect a new session must have again, at most. */
const MAX_EFFECTS = 256;

/**
 * The session of a legacy agent: what was agreed on, and what it takes to agree on it once more with a host that has forgotten it.
 */
export class LegacySession {
  readonly #link: HostLink;
  readonly #handshake: Handshake;
  readonly #onRenewed: () => void;
  #agreement: Agreement;
  /** The requests that set something up, by what they set up, in their order. */
  readonly #effects = new Map<string, Uint8Array<ArrayBuffer>>();
  #renewing: Promise<boolean> | undefined;

  /** `onRenewed` is told that the host had forgotten the session, and that there is a new one. */
  constructor({ link, handshake, agreement, onRenewed }: LegacySessionOptions) {
    this.#link = link;
    this.#handshake = handshake;
    this.#agreement = agreement;
    this.#onRenewed = onRenewed;
  }

  get revision(): string {
    return this.#agreement.revision;
  }

  get id(): string | undefined {
    return this.#agreement.sessionId;
  }

  get announced(): readonly string[] {
    return this.#agreement.announced;
  }

  /** The headers of its requests. */
  get headers(): readonly string[] {
    return headersOf(this.#agreement);
  }

  /**
   * Tells the host something, whatever comes of it. `mayRepeat`: it is told again when a connection broke, since hearing it twice does
   * no harm. Never rejects.
   */
  async tell(body: string | Uint8Array<ArrayBuffer>, { mayRepeat }: { readonly mayRepeat: boolean }): Promise<void> {
    for (let attempts = mayRepeat ? MAX_TELLINGS : 1; attempts > 0; attempts -= 1) {
      const reply = await askWhole(this.#link, { method: "POST", body, headers: this.headers });
      if (reply.kind === "answer") return;
    }
  }

  /**
   * For a request that sets something up on the host, or takes it away: what its answer is to be handed to, so that it is remembered
   * when the host has done it, and what the agent gets then. `undefined` for every other request.
   */
  noteWhenDone(
    { method, params }: { readonly method: string; readonly params: unknown },
    body: Uint8Array<ArrayBuffer>,
  ): ((answer: Omit<HostAnswer, "kind">) => Uint8Array) | undefined {
    if (!WITH_EFFECT.has(method)) return undefined;
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    return (answer) => {
      if (memberRange(answer.body, ["result"]) === undefined) return answer.body;
      if (method === "logging/setLevel") this.#keep("level", body);
      else if (method === "resources/subscribe") this.#keep(`uri ${String(uri)}`, body);
      else this.#effects.delete(`uri ${String(uri)}`);
      return answer.body;
    };
  }

  /**
   * Begins the session anew after the host did not know `lost` any more, and sets up what it had. Whether it worked; at once, when
   * it was renewed already. Single flight; never rejects.
   */
  renew(lost: string): Promise<boolean> {
    if (this.#agreement.sessionId !== lost) return Promise.resolve(true);
    this.#renewing ??= this.#begin().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #begin(): Promise<boolean> {
    const answer = await askWhole(this.#link, { method: "POST", body: this.#handshake.body, headers: [] });
    if (answer.kind === "broken") return false;
    const agreement = agreementOf(this.#handshake, answer);
    if (agreement === undefined || agreement.revision !== this.revision) return false;
    const headers = headersOf(agreement);
    for (const body of [INITIALIZED, ...this.#effects.values()]) {
      const reply = await askWhole(this.#link, { method: "POST", body, headers });
      if (reply.kind === "broken") return false;
    }
    this.#agreement = agreement;
    this.#onRenewed();
    return true;
  }

  #keep(what: string, body: Uint8Array<ArrayBuffer>): void {
    this.#effects.delete(what);
    this.#effects.set(what, body);
    for (const oldest of this.#effects.keys()) {
      if (this.#effects.size <= MAX_EFFECTS) return;
      this.#effects.delete(oldest);
    }
  }
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

function headersOf({ wireRevision, sessionId }: Agreement): readonly string[] {
  const version = ["MCP-Protocol-Version", wireRevision];
  return sessionId === undefined ? version : [...version, "Mcp-Session-Id", sessionId];
}

/** The JSON text with another string in place of a member's value. */
function withText(json: Uint8Array, path: readonly string[], text: string): Uint8Array {
  const range = memberRange(json, path);
  if (range === undefined) return json;
  return Buffer.concat([json.subarray(0, range.start), Buffer.from(JSON.stringify(text)), json.subarray(range.end)]);
}

/** Bytes of their own, which nobody changes while they are sent. */
export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
