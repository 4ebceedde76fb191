import { describe, expect, it } from "vitest";
import { createEraMemory } from "../../../src/connect/index.js";
import { RemoteConnectorError } from "../../../src/errors.js";
import { answerStatus, type Handler, likeLegacyServer, likeModernServer } from "../../../src/testing/index.js";
import type { Authorizer, AuthorizeRequest, HeaderMap } from "../../../src/transport/index.js";
import { ChangingServer, failureOf, reach } from "./parties.js";

const TOOLS = { tools: [{ name: "echo" }] };
const modern = likeModernServer(TOOLS);
const legacy = likeLegacyServer({ ...TOOLS, revision: "2025-11-25", sessionId: "s-1" });

const guarded =
  (handler: Handler): Handler =>
  (request) =>
    request.header("authorization") === "Bearer fresh" ? handler(request) : answerStatus(401);

/** Has a token once it was refused. */
function refreshing(): Authorizer {
  let headers: HeaderMap | undefined;
  return {
    authorize: () => headers,
    onRefused: () => {
      headers = { Authorization: "Bearer fresh" };
      return true;
    },
  };
}

const details = { endpoint: "https://mcp.example", reason: "no_token", scopes: [] } as const;
const failures: [string, RemoteConnectorError][] = [
  ["sign_in_required", new RemoteConnectorError("sign_in_required", { message: "", details })],
  [
    "token_refused",
    new RemoteConnectorError("token_refused", {
      message: "",
      details: { endpoint: "", status: 401, reason: "refused_again", scopes: [] },
    }),
  ],
  [
    "oauth_refused",
    new RemoteConnectorError("oauth_refused", { message: "", details: { step: "token", issuer: "", status: 400 } }),
  ],
  [
    "oauth_invalid",
    new RemoteConnectorError("oauth_invalid", {
      message: "",
      details: { subject: "token", url: "", member: "", reason: "" },
    }),
  ],
  [
    "oauth_discovery_failed",
    new RemoteConnectorError("oauth_discovery_failed", { message: "", details: { url: "", status: 503, reason: "" } }),
  ],
  [
    "client_identity_required",
    new RemoteConnectorError("client_identity_required", { message: "", details: { issuer: "", reason: "none" } }),
  ],
];

describe("A-8: finding the era of a server that asks for authorization", () => {
  it.each([
    ["modern", modern, 3],
    ["legacy", legacy, 4],
  ] as const)("a %s one is found once the probe was authorized", async (era, handler, requests) => {
    const server = await ChangingServer.start(guarded(handler));
    const { client } = await reach(server.url, { authorize: refreshing() });
    expect(client.era).toBe(era);
    await client.callTool({ name: "echo" });
    expect(server.posted.length).toBeGreaterThanOrEqual(requests);
    expect(server.posted.slice(0, 2)).toEqual(["server/discover", "server/discover"]);
  });

  it.each(failures)("%s in the probe is the outcome, and nothing is remembered", async (code, failure) => {
    const server = await ChangingServer.start(guarded(legacy));
    const eraMemory = createEraMemory();
    const written: unknown[] = [];
    const memory = {
      ...eraMemory,
      read: () => undefined,
      write: (...record: unknown[]) => void written.push(record),
      forget: (key: string) => void written.push(key),
    };
    const authorize = { authorize: () => undefined, onRefused: () => Promise.reject(failure) };
    const failed = await failureOf(reach(server.url, { authorize, eraMemory: memory }));
    expect(failed).toMatchObject({ code, delivery: "answered" });
    expect(server.posted).toEqual(["server/discover"]);
    expect(written).toEqual([]);
  });

  it.each(failures)("%s in what a probe led to is the outcome, and not its cause", async (code, failure) => {
    // An older server that lets everybody ask for what it does not know.
    const server = await ChangingServer.start((request) => {
      if (request.method === "server/discover") return answerStatus(404);
      return guarded(legacy)(request);
    });
    const authorize = { authorize: () => undefined, onRefused: () => Promise.reject(failure) };
    expect(await failureOf(reach(server.url, { authorize }))).toMatchObject({ code, delivery: "answered" });
    expect(server.posted).toEqual(["server/discover", "initialize"]);
  });

  it("that of the stream of HTTP+SSE is the outcome, too", async () => {
    const server = await ChangingServer.start((request) => answerStatus(request.verb === "GET" ? 401 : 405));
    const failure = new RemoteConnectorError("sign_in_required", { message: "", details });
    const authorize = { authorize: () => undefined, onRefused: () => Promise.reject(failure) };
    expect(await failureOf(reach(server.url, { authorize }))).toMatchObject({ code: "sign_in_required" });
    expect(server.methods).toEqual(["server/discover", "initialize", "GET"]);
  });

  it("what a call meets on a server of a known era looks for no other", async () => {
    const server = await ChangingServer.start(modern);
    const failure = new RemoteConnectorError("sign_in_required", { message: "", details });
    const authorize = { authorize: () => undefined, onRefused: () => Promise.reject(failure) };
    const { client } = await reach(server.url, { authorize, recheckPauseMs: 0.001 });
    const before = server.posted.length;
    server.become(guarded(legacy));
    expect(await failureOf(client.callTool({ name: "echo" }))).toMatchObject({ code: "sign_in_required" });
    expect(server.posted.slice(before).filter((method) => method === "server/discover")).toEqual([]);
    expect(client.era).toBe("modern");
  });

  it("all requests of one search are one operation, and what follows is none of it", async () => {
    const server = await ChangingServer.start(legacy);
    const asked: AuthorizeRequest[] = [];
    const answered: AuthorizeRequest[] = [];
    let refusals = 0;
    server.become((request) =>
      request.method === "initialize" && (refusals += 1) === 1 ? answerStatus(403) : legacy(request),
    );
    const authorize: Authorizer = {
      authorize: (request) => void asked.push(request),
      onRefused: ({ request }) => {
        expect(request).toBe(asked.at(-1));
        return true;
      },
      onAnswered: (request) => void answered.push(request),
    };
    const { client } = await reach(server.url, { authorize, headers: { "X-Read": () => "1" } });
    const opening = asked.filter(({ httpMethod }) => httpMethod === "POST");
    expect(opening.map(({ method }) => method)).toEqual([
      "server/discover",
      "initialize",
      "initialize",
      "notifications/initialized",
    ]);
    expect(new Set(opening.map(({ operation }) => operation)).size).toBe(1);
    // The same request is the same object, here as in any client.
    expect(opening[1]).toBe(opening[2]);
    for (const request of answered) expect(asked).toContain(request);
    const calls = asked.length;
    await client.callTool({ name: "echo" });
    await client.callTool({ name: "echo" });
    const [one, other] = asked.slice(calls).filter(({ method }) => method === "tools/call");
    expect(new Set([opening[0]?.operation, one?.operation, other?.operation]).size).toBe(3);
  });
});
