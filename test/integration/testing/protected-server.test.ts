import { afterEach, describe, expect, it } from "vitest";
import { ModernStreamableHTTPClient } from "../../../src/index.js";
import {
  answerFeed,
  AuthorizationServer,
  type AuthorizationServerOptions,
  commentEvent,
  EventFeed,
  forwardTo,
  type Handler,
  likeModernServer,
  ProtectedServer,
  type ProtectedServerOptions,
  ScriptedServer,
} from "../../../src/testing/index.js";
import { issueToken, TOKEN_CLIENT } from "../../support/issue-token.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const TOOLS = likeModernServer({ tools: [{ name: "read" }, { name: "write" }] });

async function startIssuer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const server = await AuthorizationServer.start({ clients: [TOKEN_CLIENT], ...options });
  opened.push(server);
  return server;
}

async function start(options: ProtectedServerOptions = {}, handler: Handler = TOOLS): Promise<ProtectedServer> {
  const server = await ProtectedServer.start(handler, options);
  opened.push(server);
  return server;
}

/** Calls a tool with a header of one's own; gives its status and challenge. */
async function call(server: ProtectedServer, token: string | undefined, name = "read"): Promise<unknown> {
  let challenge: string | undefined;
  const client = new ModernStreamableHTTPClient({
    endpoint: server.url,
    clientInfo: { name: "test", version: "1" },
    authorize: {
      authorize: () => (token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      onRefused: ({ challenges, status }) => {
        challenge = [String(status), ...challenges].join(" ");
        return false;
      },
    },
  });
  const ending = await client.callTool({ name, arguments: {} }).then(
    () => "called",
    () => challenge,
  );
  await client.close();
  return ending;
}

async function getJson(url: string): Promise<unknown> {
  const answer = await fetch(url);
  return answer.status === 200 ? answer.json() : answer.status;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

describe("ProtectedServer", () => {
  it("refuses without a token, says where its metadata is, and takes a token that was issued for it", async () => {
    const issuer = await startIssuer();
    const server = await start({ authorizationServers: [issuer], challengeScopes: ["a", "b"] });
    const metadataUrl = `${server.origin}${WELL_KNOWN}/mcp`;
    expect(await call(server, undefined)).toBe(`401 Bearer scope="a b", resource_metadata="${metadataUrl}"`);
    expect(await getJson(metadataUrl)).toEqual({
      resource: server.url,
      authorization_servers: [issuer.issuer],
      bearer_methods_supported: ["header"],
    });
    const { access_token: token } = await issueToken(issuer, { resource: server.url });
    expect(await call(server, String(token))).toBe("called");
    const calls = server.accesses.filter(({ request }) => request.method === "tools/call");
    expect(calls).toMatchObject([{ outcome: "passed", token: { clientId: "token-client" } }]);
    const refused = server.accesses.filter(({ status }) => status === 401);
    expect(refused).toMatchObject([{ outcome: "refused", authorization: undefined }]);
  });

  it("refuses tokens of nobody, for another resource, of another server, and those that ended", async () => {
    const [issuer, other] = [await startIssuer(), await startIssuer()];
    const server = await start({ authorizationServers: [issuer], namesMetadata: false });
    const refusal = '401 Bearer error="invalid_token"';
    const tokenFor = async (resource?: string): Promise<string> =>
      String((await issueToken(issuer, resource === undefined ? {} : { resource }))["access_token"]);
    const token = await tokenFor(server.url);
    expect(await call(server, "invented")).toBe(refusal);
    expect(await call(server, await tokenFor("https://b.test/"))).toBe(refusal);
    expect(await call(server, await tokenFor())).toBe(refusal);
    server.change({ checksResource: false });
    expect(await call(server, await tokenFor())).toBe("called");
    server.change({ authorizationServers: [other] });
    expect(await call(server, token)).toBe(refusal);
    server.change({ authorizationServers: [other, issuer] });
    expect(await call(server, token)).toBe("called");
    issuer.expireNow(token);
    expect(await call(server, token)).toBe(refusal);
  });

  it("refuses good tokens as often as it is told to", async () => {
    const issuer = await startIssuer();
    const server = await start({ authorizationServers: [issuer], namesMetadata: "https://m.test/doc" });
    const token = String((await issueToken(issuer, { resource: server.url }))["access_token"]);
    const refusal = '401 Bearer error="invalid_token", resource_metadata="https://m.test/doc"';
    server.refuseNext();
    expect([await call(server, token), await call(server, token)]).toEqual([refusal, "called"]);
    server.refuseNext(Infinity);
    expect([await call(server, token), await call(server, token)]).toEqual([refusal, refusal]);
    server.refuseNext(0);
    expect(await call(server, token)).toBe("called");
  });

  it("asks for scopes by method and by tool", async () => {
    const issuer = await startIssuer();
    const requiredScopes = { "tools/call": ["use"], "tools/call write": ["edit"] };
    const server = await start({ authorizationServers: [issuer], namesMetadata: false, requiredScopes });
    const [less, more] = [
      await issueToken(issuer, { resource: server.url, scope: "use" }),
      await issueToken(issuer, { resource: server.url, scope: "use edit" }),
    ].map(({ access_token: token }) => String(token));
    expect(await call(server, less)).toBe("called");
    expect(await call(server, less, "write")).toBe('403 Bearer error="insufficient_scope", scope="use edit"');
    expect(await call(server, more, "write")).toBe("called");
  });

  it.each([
    ["path", `${WELL_KNOWN}/mcp`],
    ["root", WELL_KNOWN],
    ["/of/my/own", "/of/my/own"],
  ] as const)("publishes metadata at %s alone", async (place, path) => {
    const server = await start({
      metadataAt: [place],
      scopesSupported: ["x"],
      metadata: { resource: "r", jwks_uri: 1 },
    });
    const document = { resource: "r", authorization_servers: [], scopes_supported: ["x"], jwks_uri: 1 };
    for (const each of [`${WELL_KNOWN}/mcp`, WELL_KNOWN, "/of/my/own"]) {
      const expected = each === path ? expect.objectContaining(document) : 404;
      expect(await getJson(`${server.origin}${each}`)).toEqual(expected);
    }
    expect(await call(server, undefined)).toContain(`resource_metadata="${server.origin}${path}"`);
  });

  it("publishes none where it is told so, and has methods that need no token", async () => {
    const server = await start({ metadataAt: [], openMethods: ["tools/list", "tools/call"] });
    expect(await getJson(`${server.origin}${WELL_KNOWN}/mcp`)).toBe(404);
    expect(await call(server, undefined)).toBe("called");
    server.change({ openMethods: [] });
    expect(await call(server, undefined)).toBe("401 Bearer");
  });

  it("stands before an authorization server of the same origin, and before any other server", async () => {
    const issuer = await startIssuer();
    const upstream = await ScriptedServer.start(TOOLS);
    opened.push(upstream);
    const server = await ProtectedServer.start(forwardTo(upstream.origin), {
      authorizationServers: [issuer],
      otherPaths: forwardTo(issuer.origin),
      metadataAt: [],
    });
    opened.push(server);
    issuer.change({ issuer: server.origin });
    const path = "/.well-known/oauth-authorization-server";
    expect(await getJson(`${server.origin}${path}`)).toMatchObject({ token_endpoint: `${server.origin}/token` });
    const { access_token: token } = await issueToken(issuer, { resource: server.url });
    expect([await call(server, String(token)), await call(server, undefined)]).toEqual(["called", "401 Bearer"]);
    expect(upstream.requests.at(-1)?.header("authorization")).toBe(`Bearer ${String(token)}`);
    await upstream.close();
    expect((await fetch(server.url, { headers: { Authorization: `Bearer ${String(token)}` } })).status).toBe(502);
  });

  it("hands on streams while they come", async () => {
    const feed = new EventFeed();
    const upstream = await ScriptedServer.start(() => answerFeed(feed, { headers: { "X-One": ["a", "b"] } }));
    opened.push(upstream);
    const server = await start({ openMethods: ["m"] }, forwardTo(upstream.origin));
    const answer = await fetch(server.url, { method: "POST", body: '{"method":"m"}' });
    expect([answer.headers.get("content-type"), answer.headers.get("x-one")]).toEqual(["text/event-stream", "a, b"]);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    feed.send(commentEvent("one"));
    expect((await reader?.read())?.value).toContain("one");
    feed.send(commentEvent("two"));
    expect((await reader?.read())?.value).toContain("two");
    feed.end();
    expect((await reader?.read())?.done).toBe(true);
  });

  it("changes its own answers, or gives none", async () => {
    const server = await start({
      rewrite: (answer, request) => {
        return request.verb === "GET" ? { ...answer, body: "no JSON" } : undefined;
      },
    });
    expect(await (await fetch(`${server.origin}${WELL_KNOWN}/mcp`)).text()).toBe("no JSON");
    expect(await call(server, undefined)).toBeUndefined();
  });
});
