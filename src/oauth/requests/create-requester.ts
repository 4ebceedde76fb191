import {
  type AnswerHead,
  type HttpAnswer,
  type HttpEndpoint,
  httpGet,
  httpSend,
  resolveTransportOptions,
} from "../../transport/index.js";
import type { RequesterConfig } from "../oauth-options.js";
import type { OAuthAnswer, OAuthPost, OAuthRequester } from "../requester.js";
import { assertHost } from "./host-address.js";
import { parseOAuthUrl } from "./oauth-url.js";
import { OriginPool } from "./origin-pool.js";
import { isRedirect, postRedirected, redirectedTo } from "./redirects.js";
import { requestFailure, timeUp } from "./request-failure.js";

/** Bounds the connections to one origin; the transport adds a few of its own. Who finds none free waits, within the deadline. */
const MAX_CONCURRENT = 8;

/**
 * Makes the requests of one MCP endpoint's authorization, as its configuration says. `requestTimeoutMs` is for a whole request,
 * redirects and waiting included; `maxAnswerBytes` for each answer of a success, of which nothing is given out beyond it, and what is
 * longer of any other is cut there. Answers that redirect are never given out.
 *
 * Beside what the interface names, requests reject with `invalid_options` when the environment names a proxy that is none, and with
 * `unexpected_answer` for a content coding that nobody undoes; `post` with `invalid_header`. Throws `invalid_options`.
 * `close` ends what is under way with `cancelled`. Idempotent.
 */
export function createRequester(config: RequesterConfig): OAuthRequester & { close(): Promise<void> } {
  const { allowedAddresses, ca, clock, lookup, maxAnswerBytes, proxy, requestTimeoutMs } = config;
  const policy = { loopback: allowedAddresses === "public_or_loopback" };
  const transport = resolveTransportOptions({
    allowedAddresses,
    ca,
    clock,
    lookup,
    proxy,
    maxBodyBytes: maxAnswerBytes,
    maxErrorBodyBytes: maxAnswerBytes,
    maxConcurrentRequests: MAX_CONCURRENT,
    // One deadline for all of a request.
    connectTimeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    totalTimeoutMs: requestTimeoutMs,
  });
  // Hosts that are addresses are judged before they are asked for.
  const pool = new OriginPool({ ...transport, connection: { ...transport.connection, trustsProxy: true } });
  const ask = async (url: URL, run: (endpoint: HttpEndpoint) => Promise<HttpAnswer>): Promise<HttpAnswer> => {
    try {
      await assertHost(url, allowedAddresses);
      return await pool.use(url, run);
    } catch (error) {
      throw requestFailure(error, requestTimeoutMs);
    }
  };
  return {
    async get(text, signal) {
      const dueAt = clock.now() + requestTimeoutMs;
      let url = parseOAuthUrl(text, policy);
      for (let hops = 0; ; hops += 1) {
        const leftMs = dueAt - clock.now();
        if (leftMs <= 0) throw timeUp(requestTimeoutMs);
        const answer = await ask(url, (endpoint) => httpGet(endpoint, { signal, totalTimeoutMs: leftMs }));
        if (!isRedirect(answer.status)) return answerOf(url, answer);
        url = redirectedTo(answer, url, hops, policy);
      }
    },
    async post(post: OAuthPost, signal) {
      const url = parseOAuthUrl(post.url, policy);
      const body = new TextEncoder().encode(post.body);
      const { contentType, headers } = post;
      try {
        const options = { signal, contentType, headers };
        const answer = await ask(url, (endpoint) => httpSend(endpoint, "POST", body, options));
        if (isRedirect(answer.status)) throw postRedirected(answer, url);
        return answerOf(url, answer);
      } finally {
        // It may have held a secret, and nothing reads it any more.
        body.fill(0);
      }
    },
    close: () => pool.close(),
  };
}

function answerOf(url: URL, { status, mediaType, headers, body }: AnswerHead & { body: Uint8Array }): OAuthAnswer {
  return { url: url.href, status, mediaType, headers, body };
}
