import { getEventListeners, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FlowClient, LoginGuard } from "../../../src/auth-projection/index.js";
import { deliveryOf } from "../../../src/errors.js";

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const never = new AbortController().signal;
const request = {
  connectorKey: "git.hub_1",
  connectorVersion: "1.0.0",
  clientRequestId: "r-1",
  replaces: false,
  hasSecret: false,
};
const known = { sessionId: "s/1 ä", connectorVersion: "1.0.0" };
const opened = {
  session: {
    sessionId: "s-1",
    connectorRevision: "1.0.0",
    status: "CONNECTOR_AUTHORIZATION_STATUS_AWAITING_USER",
    nextAction: { type: "redirect", url: "https://provider.example/authorize?state=x" },
  },
};
const succeeded = { session: { connectorRevision: "1.0.0", status: "SUCCEEDED", resultConnectionId: "c-1" } };

let server: Server;
let seen: Seen[];
let answer: (response: ServerResponse, seen: Seen) => void;
let logins: LoginGuard;
let client: FlowClient;

beforeEach(async () => {
  seen = [];
  server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const { method = "", url = "", headers } = message;
      const one = { line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(response, one);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  json(opened);
  let count = 0;
  logins = new LoginGuard({ authorize: () => ({ Cookie: `session=s3cr3t-${String((count += 1))}` }) });
  client = clientFor(`${base()}/api/desktop/`);
});

afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function base(): string {
  const address = server.address();
  return `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
}

function clientFor(controlBase: string): FlowClient {
  return new FlowClient({ controlBase, login: logins.current ?? logins.signIn("acc"), logins });
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}): void {
  answer = (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

const SECRET = 's3cr3t "key" \\ \u0001 ü';
const secret = (): Uint8Array => new TextEncoder().encode(SECRET);

describe("P-10: sessions over HTTP", () => {
  it("P-10: begins with the account's credentials, read for each request", async () => {
    expect(await client.begin(request, never)).toEqual({
      sessionId: "s-1",
      status: "awaiting_user",
      nextAction: { type: "redirect", url: "https://provider.example/authorize?state=x" },
      connectionId: undefined,
      errorCode: undefined,
    });
    await client.begin({ ...request, replaces: true }, never);
    const line = "POST /api/desktop/v1/connectors/git.hub_1/authorization-sessions";
    expect(seen).toMatchObject([
      { line, headers: { cookie: "session=s3cr3t-1", "content-type": "application/json", accept: "application/json" } },
      { line, headers: { cookie: "session=s3cr3t-2" } },
    ]);
    const plain = { clientRequestId: "r-1", connectorVersion: "1.0.0" };
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      plain,
      { ...plain, replacementPolicy: "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE" },
    ]);
  });

  it("P-10: gives a secret as it is", async () => {
    json(succeeded);
    expect(await client.complete(known, secret(), never)).toMatchObject({ status: "succeeded", connectionId: "c-1" });
    expect(seen).toMatchObject([
      { line: "POST /api/desktop/v1/connector-authorization-sessions/s%2F1%20%C3%A4/complete" },
    ]);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ secret: { secret: SECRET } });
  });

  it("P-10: the largest secret arrives whole", async () => {
    json(succeeded);
    await client.complete(known, new Uint8Array(16_384).fill(0x22), never);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ secret: { secret: '"'.repeat(16_384) } });
  });

  it("P-10: looks, ends, and disconnects", async () => {
    json({ session: { status: "PROCESSING" } });
    expect(await client.observe(known, never)).toMatchObject({ sessionId: known.sessionId, status: "processing" });
    answer = (response) => response.writeHead(204).end();
    await client.end("s-1", never);
    await client.disconnect("github", never);
    expect(seen.map(({ line, body }) => [line, body])).toEqual([
      ["GET /api/desktop/v1/connector-authorization-sessions/s%2F1%20%C3%A4", ""],
      ["DELETE /api/desktop/v1/connector-authorization-sessions/s-1", ""],
      ["DELETE /api/desktop/v1/connectors/github/authorization", ""],
    ]);
  });

  it.each([200, 202, 204, 404, 410])("P-10: %i ends a session, whatever its body says", async (status) => {
    answer = (response) => response.writeHead(status).end(status === 204 ? undefined : "<html>");
    await client.end("s-1", never);
    await client.disconnect("github", never);
  });

  it("P-10: a page on this machine is taken from a control plane on this machine", async () => {
    const url = "http://127.0.0.1:7/authorize";
    json({ session: { ...opened.session, nextAction: { type: "redirect", url } } });
    expect((await client.begin(request, never)).nextAction).toEqual({ type: "redirect", url });
  });
});

describe("P-10: answers that are none", () => {
  it.each([
    [401, { code: "unauthenticated" }, "account_not_ready", { status: 401 }],
    [403, "no", "account_not_ready", { status: 403 }],
    [
      403,
      { code: "connector_forbidden", message: "Not in\nyour plan", retryable: false },
      "control_plane_error",
      { status: 403, controlCode: "connector_forbidden", controlMessage: "Not in your plan", retryable: false },
    ],
    [
      409,
      { code: "connector_operation_in_progress", retryable: true },
      "control_plane_error",
      { controlCode: "connector_operation_in_progress", controlMessage: undefined, retryable: true },
    ],
    [422, { code: "a code", message: 7, retryable: "no" }, "control_plane_error", { controlCode: undefined }],
    [502, "<html>", "control_plane_error", { status: 502, controlCode: undefined, retryable: undefined }],
    [200, "<html>", "invalid_session", {}],
    [200, { session: { ...opened.session, connectorRevision: "2" } }, "invalid_session", {}],
  ])("P-10: %i %o is %s", async (status, body, code, details) => {
    json(body, status, { "retry-after": "7" });
    const failing = client.begin(request, never);
    await expect(failing).rejects.toMatchObject({ code, details });
    expect(deliveryOf(failing) ?? "").not.toBe("not_sent");
    expect(seen).toHaveLength(1);
  });

  it("P-10: refusals keep what callers act on", async () => {
    json({ code: "slow_down" }, 429, { "retry-after": "7" });
    await expect(client.observe(known, never)).rejects.toMatchObject({
      delivery: "answered",
      details: { retryAfter: "7" },
    });
  });

  it("P-10: redirects are not followed", async () => {
    json({}, 307, { location: "https://evil.example/take?it=1" });
    await expect(client.begin(request, never)).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { status: 307, location: "https://evil.example/take" },
    });
    expect(seen).toHaveLength(1);
  });

  it("P-10: an answer without end is cut", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end("x".repeat(300 * 1024));
    };
    await expect(client.observe(known, never)).rejects.toMatchObject({
      code: "limit_exceeded",
      details: { option: "maxBodyBytes" },
    });
  });

  it("P-10 ★: what repeats the secret shows none of it, and says its status all the same", async () => {
    const key = new TextEncoder().encode("sk-live-1");
    json({ code: "sk-live-1", message: "The key sk-live-1 is no good.", retryable: false }, 422);
    const failing = client.complete(known, key, never);
    await expect(failing).rejects.toMatchObject({
      code: "control_plane_error",
      details: { status: 422, controlCode: undefined, controlMessage: undefined, retryable: false },
    });
    expect(JSON.stringify(await failing.catch((error: unknown) => error))).not.toContain("sk-live");
    json({ code: "invalid_key", message: "The key is no good." }, 422);
    await expect(client.complete(known, key, never)).rejects.toMatchObject({
      details: { controlCode: "invalid_key", controlMessage: undefined },
    });
    json({ session: { connectorRevision: "1.0.0", status: "FAILED", errorCode: "sk-live-1" } });
    expect(await client.complete(known, key, never)).toMatchObject({ status: "failed", errorCode: undefined });
  });
});

describe("F-6: a secret that is sent back", () => {
  const key = "sk-live-1/2";
  const complete = (): Promise<unknown> => client.complete(known, new TextEncoder().encode(key), never);
  const shownOf = async (failing: Promise<unknown>): Promise<string> => {
    const error: unknown = await failing.catch((reason: unknown) => reason);
    return inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
  };

  it.each([
    ["a challenge", 422, { "www-authenticate": `Bearer error_description="${key} is no good"` }],
    ["the path that it is sent to", 307, { location: `/keys/${key}` }],
    ["the path, encoded", 307, { location: `/keys/${encodeURIComponent(key)}` }],
    ["when to come back", 429, { "retry-after": key }],
    ["when to come back, encoded", 429, { "retry-after": encodeURIComponent(key) }],
    ["a challenge for the account", 401, { "www-authenticate": key }],
  ])("F-6 ★: in %s, is not shown", async (_what, status, headers) => {
    json({ code: "invalid_key" }, status, headers);
    expect(await shownOf(complete())).not.toMatch(/sk-live/);
  });

  it.each([
    ["a coding that nobody asked for", { "content-encoding": "sk-live", "www-authenticate": key }],
    ["a media type", { "content-type": `text/${key}`, "content-encoding": "br" }],
  ])("F-6 ★: beside %s, is not shown", async (_what, headers) => {
    json({ code: "invalid_key", message: key }, 422, headers);
    expect(await shownOf(complete())).not.toMatch(/sk-live/);
  });

  it.each([
    ["before the head", "sk-live-1/2 is no good\r\n\r\n"],
    ["in the head", "HTTP/1.1 422 No\r\nsk-live-1/2 is no good\r\n\r\n"],
    ["in the status line", "HTTP/1.1 422 sk-live-1/2\u0001\r\n\r\n"],
    ["in a chunk's size", "HTTP/1.1 422 No\r\ntransfer-encoding: chunked\r\n\r\nsk-live-1/2\r\n\r\n"],
    ["in an announced body", "HTTP/1.1 422 No\r\ncontent-length: 999\r\n\r\nsk-live-1/2"],
  ])("F-6 ★: %s of an answer that is no HTTP, is not shown", async (_where, text) => {
    answer = (response) => response.socket?.end(text);
    expect(await shownOf(complete())).not.toMatch(/sk-live/);
  });

  it("F-6 ★: in a code, in JSON's own disguise, is not shown", async () => {
    answer = (response) => {
      response.writeHead(422, { "content-type": "application/json" }).end('{"code":"\\u0073k-live-1"}');
    };
    const failing = client.complete(known, new TextEncoder().encode("sk-live-1"), never);
    expect(await shownOf(failing)).not.toMatch(/sk-live/);
    answer = (response) => {
      const body = '{"session":{"connectorRevision":"1.0.0","status":"FAILED","errorCode":"bad:\\u0073k-live-1"}}';
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    expect(await client.complete(known, new TextEncoder().encode("sk-live-1"), never)).toMatchObject({
      status: "failed",
      errorCode: undefined,
    });
  });

  it("F-6: what else is said is kept: the code, the status, and when to come back", async () => {
    json({ code: "slow_down", message: "x" }, 429, { "retry-after": "7" });
    await expect(complete()).rejects.toMatchObject({
      details: { status: 429, controlCode: "slow_down", controlMessage: undefined, retryAfter: "7" },
    });
  });
});

describe("P-10: delivery", () => {
  it.each([
    ["before the answer", (response: ServerResponse) => response.destroy()],
    ["in the head", (response: ServerResponse) => response.socket?.end("HTTP/1.1 200 O")],
    [
      "in the body",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "100" }).write('{"session"');
        setTimeout(() => response.destroy(), 10);
      },
    ],
  ])("P-10: a POST whose connection breaks %s is sent once, and unknown", async (_when, cut) => {
    answer = cut;
    const failing = client.complete(known, secret(), never);
    await expect(failing).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    expect(seen).toHaveLength(1);
  });

  it("P-10: a connection that was kept and is gone makes no second POST of the secret", async () => {
    json(succeeded);
    await client.observe(known, never);
    answer = (response) => response.destroy();
    await expect(client.complete(known, secret(), never)).rejects.toMatchObject({ delivery: "unknown" });
    expect(seen.map(({ line }) => line.split(" ")[0])).toEqual(["GET", "POST"]);
  });

  it("P-10: what can't connect was not sent", async () => {
    const closed = base();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    const other = clientFor(closed);
    await expect(other.begin(request, never)).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    await other.close();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  it("P-10: without credentials nothing is sent", async () => {
    const guard = new LoginGuard({ authorize: () => undefined });
    const other = new FlowClient({ controlBase: base(), login: guard.signIn("acc"), logins: guard });
    await expect(other.complete(known, secret(), never)).rejects.toMatchObject({
      code: "account_not_ready",
      delivery: "not_sent",
    });
    expect(seen).toEqual([]);
    await other.close();
  });

  it("P-8: the end of the login ends what runs, and what comes later", async () => {
    answer = () => undefined;
    const running = client.begin(request, never);
    await expect.poll(() => seen.length).toBe(1);
    logins.signOut();
    await expect(running).rejects.toMatchObject({ code: "cancelled", delivery: "unknown" });
    await expect(client.observe(known, never)).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(seen).toHaveLength(1);
  });

  it("F-2: the caller's abort rejects with its reason", async () => {
    answer = () => undefined;
    const caller = new AbortController();
    const running = client.begin(request, caller.signal);
    await expect.poll(() => seen.length).toBe(1);
    caller.abort("enough");
    await expect(running).rejects.toBe("enough");
    expect(deliveryOf("enough")).toBe("unknown");
  });

  it("F-8: nothing is left on the caller's signal, nor on the login's, after many requests", async () => {
    const { signal } = new AbortController();
    const login = logins.current ?? logins.signIn("acc");
    const before = getEventListeners(logins.signalOf(login), "abort").length;
    for (let round = 0; round < 20; round += 1) {
      json(round % 2 === 0 ? opened : {}, round % 3 === 0 ? 503 : 200);
      await client.begin(request, signal).catch(() => undefined);
      await client.end("s-1", signal).catch(() => undefined);
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(getEventListeners(logins.signalOf(login), "abort")).toHaveLength(before);
  });

  it.each(["http://control.example", "https://u@control.example", "https://control.example?a", "x"])(
    "P-10: the base %s is refused",
    (controlBase) => {
      expect(() => clientFor(controlBase)).toThrow(expect.objectContaining({ code: "invalid_url" }));
    },
  );

  it("P-10: a misspelt option is refused", () => {
    const misspelt = { controlBase: base(), login: logins.signIn("acc"), logins, exchanges: undefined };
    expect(() => new FlowClient(misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});
