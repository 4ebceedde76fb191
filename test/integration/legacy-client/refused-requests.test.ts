import { describe, expect, it, onTestFinished } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { LegacySSEClient } from "../../../src/legacy-client/index.js";
import {
  answerFeed,
  answerStatus,
  EventFeed,
  type Handler,
  likeLegacyServer,
  likeSseServer,
  messageEvent,
  notificationMessage,
} from "../../../src/testing/index.js";
import type { AuthorizationRefusal, Authorizer, AuthorizeRequest, HeaderMap } from "../../../src/transport/index.js";
import { connectHttp, serve } from "./http-parties.js";

const clientInfo = { name: "test", version: "1" };
const tools = [{ name: "t", run: () => ({ content: [] }) }];

/** Gives a token that will do to what was refused before, and to nothing else. */
class Refresher implements Authorizer {
  readonly refused: AuthorizeRequest[] = [];
  readonly #refuses: (refusal: AuthorizationRefusal) => Promise<boolean>;

  constructor(refuses: (refusal: AuthorizationRefusal) => Promise<boolean> = () => Promise.resolve(true)) {
    this.#refuses = refuses;
  }

  authorize({ operation }: AuthorizeRequest): HeaderMap {
    const isFresh = this.refused.some((one) => one.operation === operation);
    return { Authorization: isFresh ? "Bearer fresh" : "Bearer stale" };
  }

  onRefused(refusal: AuthorizationRefusal): Promise<boolean> {
    this.refused.push(refusal.request);
    return this.#refuses(refusal);
  }
}

/** Lets nobody in whose token is not fresh. */
function guarded(handler: Handler): Handler {
  return (request) => (request.header("authorization") === "Bearer fresh" ? handler(request) : answerStatus(401));
}

describe("A-8: requests of a legacy client that are refused and made again", () => {
  it("a whole session: every POST, the listening stream, notifications, and its end", async () => {
    const feed = new EventFeed();
    const inner = likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" });
    const handler: Handler = (request) => (request.verb === "GET" ? answerFeed(feed) : inner(request));
    const server = await serve(guarded(handler));
    const heard: string[] = [];
    const authorize = new Refresher();
    const { client, kinds } = await connectHttp(server.url, {
      authorize,
      onNotification: ({ method }) => void heard.push(method),
      listen: "always",
    });
    feed.send(messageEvent(notificationMessage("notifications/message", {})));
    await expect.poll(() => heard).toEqual(["notifications/message"]);
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    await client.close();
    const made = server.requests.map((one) => [one.method ?? one.verb, one.header("authorization")]);
    for (const method of ["initialize", "notifications/initialized", "GET", "tools/call", "DELETE"]) {
      const tokens = made.filter(([name]) => name === method).map(([, token]) => token);
      expect([method, tokens]).toEqual([method, ["Bearer stale", "Bearer fresh"]]);
    }
    expect(authorize.refused.map(({ method, httpMethod }) => `${httpMethod} ${method}`).toSorted()).toEqual([
      "DELETE DELETE",
      "GET GET",
      "POST initialize",
      "POST notifications/initialized",
      "POST tools/call",
    ]);
    // The same session, whatever was refused meanwhile.
    const sessions = server.requests
      .filter(({ method }) => method !== "initialize")
      .map((one) => one.header("mcp-session-id"));
    expect(new Set(sessions)).toEqual(new Set(["s-1"]));
    expect(kinds()).toEqual([]);
  });

  it("HTTP+SSE: the stream, and everything that is posted", async () => {
    const server = await serve(guarded(likeSseServer({ tools })));
    const authorize = new Refresher();
    const client = await LegacySSEClient.connect({ endpoint: server.url, clientInfo, authorize });
    onTestFinished(() => client.close());
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(authorize.refused.map(({ method }) => method).toSorted()).toEqual([
      "GET",
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
    expect(server.requests).toHaveLength(8);
  });

  it("a listening stream that nobody may authorize is given up, and calls go on", async () => {
    const feed = new EventFeed();
    const inner = likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" });
    const server = await serve(guarded((request) => (request.verb === "GET" ? answerFeed(feed) : inner(request))));
    const authorize = new Refresher(({ request }) => {
      if (request.httpMethod === "POST" || request.httpMethod === "DELETE") return Promise.resolve(true);
      const details = { endpoint: server.url, reason: "token_refused", scopes: [] } as const;
      return Promise.reject(new RemoteConnectorError("sign_in_required", { message: "Sign in.", details }));
    });
    const { client, diagnostics } = await connectHttp(server.url, { authorize, listen: "always" });
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(server.requests.filter(({ verb }) => verb === "GET")).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { kind: "not_listening", message: "Not listening: the client is not authorized for it." },
    ]);
  });

  it("a call that nobody may authorize fails with that, and leaves the session", async () => {
    const server = await serve(guarded(likeLegacyServer({ tools, revision: "2025-11-25", sessionId: "s-1" })));
    const authorize = new Refresher(({ request }) => {
      if (request.method !== "tools/call" || authorize.refused.length > 3) return Promise.resolve(true);
      const details = { endpoint: server.url, reason: "no_token", scopes: [] } as const;
      return Promise.reject(new RemoteConnectorError("sign_in_required", { message: "Sign in.", details }));
    });
    const { client } = await connectHttp(server.url, { authorize });
    await expect(client.callTool({ name: "t" })).rejects.toMatchObject({
      code: "sign_in_required",
      delivery: "answered",
    });
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [] });
    expect(server.requests.filter(({ method }) => method === "initialize")).toHaveLength(2);
  });
});
