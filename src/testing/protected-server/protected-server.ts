import type { IssuedToken, JsonAnswer } from "../authorization-server/index.js";
import { type Answer, answerBody, answerRaw, answerStatus, withFaults } from "../answer.js";
import { DpopJudge } from "../dpop-judge.js";
import { cutAt } from "../fault.js";
import type { ReceivedRequest } from "../received-request.js";
import type { Handler } from "../script.js";
import { ScriptedServer } from "../scripted-server.js";
import { type AccessVerdict, judgeAccess, refuse } from "./access.js";
import { answerRefusal } from "./challenge.js";
import {
  type ProtectedServerConfig,
  type ProtectedServerOptions,
  type Protection,
  type ProtectionConfig,
  resolveProtectedServerOptions,
  resolveProtection,
} from "./options.js";
import { namedMetadata, placePath, resourceMetadata } from "./resource-metadata.js";

/** A request, and what became of it. */
export interface AccessRecord {
  readonly request: ReceivedRequest;
  /** `metadata`: it asked for the document, and got it. `other`: it was for another path. */
  readonly outcome: "passed" | "refused" | "metadata" | "other";
  /** Of a refusal. */
  readonly status?: number | undefined;
  readonly authorization: string | undefined;
  /** The good token that came with it. */
  readonly token: IssuedToken | undefined;
}

/**
 * An MCP server behind OAuth: it publishes protected resource metadata, takes the tokens of authorization servers, and refuses
 * everything else with a challenge. What it lets through, a handler answers; `likeModernServer` and `likeLegacyServer` give one.
 *
 * Nothing is left after {@link close}. Source: 2026-07-28, Authorization; RFC 9728.
 */
export class ProtectedServer {
  readonly #handler: Handler;
  readonly #config: ProtectedServerConfig;
  readonly #dpop: DpopJudge;
  readonly #accesses: AccessRecord[] = [];
  #options: Protection;
  #protection: ProtectionConfig;
  /** How many more requests with a good token are refused all the same. */
  #refusals = 0;
  #server: ScriptedServer | undefined;

  private constructor(handler: Handler, options: ProtectedServerOptions) {
    const { random: _random, server: _server, unixTime: _unixTime, ...protection } = options;
    this.#handler = handler;
    this.#config = resolveProtectedServerOptions(options);
    this.#options = protection;
    this.#protection = this.#config.protection;
    this.#dpop = new DpopJudge(() => Buffer.from(this.#config.random(12)).toString("base64url"));
  }

  /** Starts a server. Rejects with `listen_failed`, or `invalid_options` (both `not_sent`). */
  static async start(handler: Handler, options: ProtectedServerOptions = {}): Promise<ProtectedServer> {
    const started = new ProtectedServer(handler, options);
    started.#server = await ScriptedServer.start((request) => started.#answer(request), started.#config.server);
    return started;
  }

  /** Where a client finds it. */
  get url(): string {
    return this.#server?.url ?? "";
  }

  get origin(): string {
    return this.#server?.origin ?? "";
  }

  /** The requests so far, with what became of each, in the order of their ends. */
  get accesses(): readonly AccessRecord[] {
    return this.#accesses;
  }

  /** Connections accepted so far. */
  get connections(): number {
    return this.#server?.connections ?? 0;
  }

  /** Changes what counts from now on; what is left out stays. Another authorization server ends the use of the old one's tokens. */
  change(changes: Protection): void {
    const options = { ...this.#options, ...changes };
    this.#protection = resolveProtection(options);
    this.#options = options;
  }

  /** Refuses the next requests with 401, however good their tokens are; `Infinity` all of them, `0` none any more. */
  refuseNext(times = 1): void {
    this.#refusals = times;
  }

  /** The nonce that proofs need is another one from now on. */
  renewDpopNonce(): void {
    this.#dpop.renewNonce();
  }

  /** Destroys all connections and stops listening. Idempotent. */
  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #answer(request: ReceivedRequest): Promise<Answer | undefined> {
    const endpoint = new URL(this.url);
    if (request.path !== endpoint.pathname) return this.#answerElsewhere(request, endpoint.pathname);
    const verdict = this.#judge(request);
    if (verdict.kind === "passed") {
      this.#record(request, { outcome: "passed", token: verdict.token });
      return this.#handler(request);
    }
    this.#record(request, { outcome: "refused", status: verdict.status, token: undefined });
    return this.#send(answerRefusal(verdict, namedMetadata(this.url, this.#protection)), request);
  }

  #answerElsewhere(request: ReceivedRequest, endpointPath: string): ReturnType<Handler> {
    const isMetadata = this.#protection.metadataAt.some((place) => placePath(place, endpointPath) === request.path);
    this.#record(request, { outcome: isMetadata ? "metadata" : "other", token: undefined });
    if (!isMetadata) return this.#protection.otherPaths(request);
    return this.#send({ status: 200, body: resourceMetadata(this.url, this.#protection) }, request);
  }

  #judge(request: ReceivedRequest): AccessVerdict {
    const nowMs = this.#config.unixTime();
    const context = { endpoint: this.url, protection: this.#protection, dpop: this.#dpop, nowMs };
    const verdict = judgeAccess(request, context);
    if (verdict.kind === "refused" || verdict.token === undefined || this.#refusals < 1) return verdict;
    this.#refusals -= 1;
    return refuse(this.#protection, "invalid_token");
  }

  #record(request: ReceivedRequest, rest: Omit<AccessRecord, "authorization" | "request">): void {
    this.#accesses.push({ request, authorization: request.header("authorization"), ...rest });
  }

  async #send(answer: JsonAnswer, request: ReceivedRequest): Promise<Answer> {
    const sent = await this.#protection.rewrite(answer, request);
    return sent === undefined ? withFaults(answerRaw(""), cutAt(0)) : toAnswer(sent);
  }
}

function toAnswer({ body, headers = {}, status }: JsonAnswer): Answer {
  if (body === undefined) return answerStatus(status, { headers });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return answerBody(text, { status, headers, type: "application/json" });
}
