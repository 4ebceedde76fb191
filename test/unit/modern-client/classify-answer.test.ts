import { describe, expect, it } from "vitest";
import { classifyAnswer, matchId } from "../../../src/modern-client/classify-answer.js";
import type { ResponseHeaders } from "../../../src/transport/index.js";

const ID = 7;
const ENDPOINT = new URL("https://server.test/mcp");

interface AnswerChanges {
  readonly method?: string;
  readonly headers?: ResponseHeaders;
  readonly isWhole?: boolean;
}

function answer(
  status: number,
  mediaType: string,
  body: unknown,
  { method = "tools/call", headers = {}, isWhole = true }: AnswerChanges = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const head = { status, mediaType, headers };
  return classifyAnswer({ head, body: new TextEncoder().encode(text), isWhole, url: ENDPOINT }, method, ID);
}

const response = (members: object): object => ({ jsonrpc: "2.0", id: ID, ...members });
const error = { code: -32602, message: "no", data: { why: 1 } };

describe("matchId", () => {
  it.each([
    [7, "same"],
    ["7", "as_string"],
    [undefined, "absent"],
    [8, "other"],
    ["", "other"],
    [0, "other"],
    ["07", "other"],
  ])("W-5: %j is %s", (id, match) => expect(matchId(id, ID)).toBe(match));

  it("W-5: 0 is an ordinary id", () => {
    expect(matchId(0, 0)).toBe("same");
    expect(matchId(undefined, 0)).toBe("absent");
    expect(matchId("", 0)).toBe("other");
  });
});

describe("classifyAnswer", () => {
  it("W-6, W-11: a result of ours is handed over whole", () => {
    const result = { content: [{ type: "hologram", x: 1 }], _meta: { a: 1 }, unknown: null, isError: true };
    expect(answer(200, "application/json", response({ result }))).toEqual({
      kind: "result",
      result,
      idAsString: false,
    });
  });

  it("W-12: a leading byte order mark is no part of the body", () => {
    expect(answer(200, "application/json", `\ufeff${JSON.stringify(response({ result: {} }))}`).kind).toBe("result");
  });

  it("W-5: an id that came back as a string is accepted, and said", () => {
    expect(answer(200, "application/json", { jsonrpc: "2.0", id: "7", result: {} })).toMatchObject({
      kind: "result",
      idAsString: true,
    });
  });

  it.each([
    ["another id", { jsonrpc: "2.0", id: 8, result: {} }],
    ["no id", { jsonrpc: "2.0", result: {} }],
    ["result and error", response({ result: {}, error })],
    ["neither", response({})],
    ["a result that is null", response({ result: null })],
    ["a result that is a list", response({ result: [] })],
    ["no jsonrpc", { id: ID, result: {} }],
    ["a batch", [response({ result: {} })]],
    ["a request of the server with our id", response({ method: "ping" })],
    ["a notification", { jsonrpc: "2.0", method: "x" }],
    ["an error of another id", { jsonrpc: "2.0", id: 8, error }],
    ["a resultType that nobody knows", response({ result: { resultType: "later" } })],
    ["a resultType that is no string", response({ result: { resultType: 1 } })],
  ])("W-9, W-10, W-11: %s is an invalid answer, unknown", (_, body) => {
    expect(answer(200, "application/json", body)).toMatchObject({
      kind: "failed",
      error: { code: "invalid_answer", delivery: "unknown" },
    });
  });

  it.each([["complete"], [undefined]])("W-10: resultType %s is complete", (resultType) => {
    expect(answer(200, "application/json", response({ result: { resultType } })).kind).toBe("result");
  });

  it("W-10, W-33: input_required asks, on the three methods only", () => {
    const result = { resultType: "input_required", inputRequests: { login: { method: "elicitation/create" } } };
    for (const method of ["tools/call", "prompts/get", "resources/read"]) {
      expect(answer(200, "application/json", response({ result }), { method })).toMatchObject({ kind: "asks", result });
    }
    expect(answer(200, "application/json", response({ result }), { method: "tools/list" })).toMatchObject({
      error: { code: "invalid_answer" },
    });
  });

  it("W-10, W-41: a task is one on tools/call and tasks/get only", () => {
    const result = { resultType: "task", taskId: "t" };
    for (const method of ["tools/call", "tasks/get"]) {
      expect(answer(200, "application/json", response({ result }), { method })).toMatchObject({ kind: "task", result });
    }
    for (const method of ["tools/list", "prompts/get", "tasks/update"]) {
      expect(answer(200, "application/json", response({ result }), { method })).toMatchObject({
        error: { code: "invalid_answer", delivery: "unknown" },
      });
    }
  });

  it("W-11: error null beside a result counts as absent", () => {
    expect(answer(200, "application/json", response({ result: {}, error: null })).kind).toBe("result");
  });

  it.each([200, 400, 401, 403, 404, 428, 500, 503])(
    "W-8, F-3: a JSON-RPC error under %i reaches the caller",
    (status) => {
      const headers = { "www-authenticate": "Bearer", "retry-after": ["3", "4"] };
      for (const id of [ID, null, undefined]) {
        expect(answer(status, "application/json", { jsonrpc: "2.0", id, error }, { headers })).toMatchObject({
          error: {
            code: "peer_error",
            delivery: "answered",
            details: {
              rpcCode: -32602,
              rpcMessage: "no",
              rpcData: { why: 1 },
              httpStatus: status,
              wwwAuthenticate: "Bearer",
              retryAfter: "3",
            },
          },
        });
      }
    },
  );

  it.each([
    ["text/plain", JSON.stringify({ jsonrpc: "2.0", id: ID, error })],
    ["", JSON.stringify({ jsonrpc: "2.0", error })],
    ["text/event-stream", `: hello\r\n\r\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: ID, error })}\r\n\r\n`],
  ])("W-8: a failed answer's error counts whatever the media type (%s)", (mediaType, body) => {
    expect(answer(404, mediaType, body)).toMatchObject({ error: { code: "peer_error", delivery: "answered" } });
  });

  it("W-8: an error of another id under a failed status is not ours", () => {
    expect(answer(500, "application/json", { jsonrpc: "2.0", id: 8, error })).toMatchObject({
      error: { code: "unexpected_answer", delivery: "unknown", details: { status: 500 } },
    });
  });

  it.each([
    [404, "answered"],
    [428, "answered"],
    [429, "answered"],
    [408, "unknown"],
    [499, "unknown"],
    [500, "unknown"],
    [502, "unknown"],
    [503, "unknown"],
  ])("F-1: %i without a JSON-RPC error is %s", (status, delivery) => {
    expect(answer(status, "text/html", "<h1>\u0000no\nway</h1>")).toMatchObject({
      error: { code: "unexpected_answer", delivery, details: { status, snippet: "<h1> no way</h1>" } },
    });
  });

  it.each([
    ["text/html", "<html>"],
    ["", ""],
    ["application/json", ""],
    ["application/json", "{"],
    ["application/jsonp", JSON.stringify(response({ result: {} }))],
  ])("W-6: 2xx with %s %j is an unexpected answer, unknown", (mediaType, body) => {
    expect(answer(200, mediaType, body)).toMatchObject({
      error: { code: "unexpected_answer", delivery: "unknown", details: { status: 200, mediaType } },
    });
  });

  it("W-8, F-1: a result under a failed status is an unexpected answer, and answered", () => {
    expect(answer(500, "application/json", response({ result: {} }))).toMatchObject({
      error: { code: "unexpected_answer", delivery: "answered", details: { status: 500 } },
    });
  });

  it("F-1: a refusal that did not come whole keeps status and hints, and is unknown", () => {
    const headers = { "retry-after": "9" };
    const body = response({ error });
    expect(answer(429, "application/json", body, { headers, isWhole: false })).toMatchObject({
      error: { code: "unexpected_answer", delivery: "unknown", details: { status: 429, retryAfter: "9" } },
    });
  });

  it("F-4: several challenges are one list", () => {
    const headers = { "www-authenticate": ['Basic realm="x"', 'Bearer resource_metadata="y"'] };
    expect(answer(401, "", "", { headers })).toMatchObject({
      error: { details: { wwwAuthenticate: 'Basic realm="x", Bearer resource_metadata="y"' } },
    });
  });

  it("W-10: a resultType that is deeper than any stack is an invalid answer like others", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const body = `{"jsonrpc":"2.0","id":7,"result":{"resultType":${deep}}}`;
    expect(answer(200, "application/json", body)).toMatchObject({ error: { code: "invalid_answer" } });
  });

  it("F-6: a peer's text in messages is bounded and plain", () => {
    const message = `\u001b[31m${"x".repeat(5_000)}\n`;
    const failed = answer(400, "application/json", response({ error: { code: 1, message } }));
    const text = failed.kind === "failed" ? failed.error.message : "";
    expect(text.length).toBeLessThan(400);
    // oxlint-disable-next-line no-control-regex -- they must not be there
    expect(text).not.toMatch(/[\u0000-\u001f]/);
  });

  it.each([
    ["https://user:SEN@TINEL@h.test/", "https://h.test/"],
    ["https:user:SENTINEL@h.test/", "https://server.test/…@h.test/"],
    ["\\\\user:SENTINEL@h.test/x", "https://h.test/x"],
    ["/elsewhere?token=SENTINEL#SENTINEL", "https://server.test/elsewhere?token=…"],
    ["https://[SENTINEL", ""],
    ["", "https://server.test/mcp"],
  ])("F-6: the redirect to %j is shown as %j", (location, shown) => {
    const verdict = answer(302, "", "", { headers: { location } });
    expect(verdict).toMatchObject({ error: { details: { location: shown } } });
    expect(JSON.stringify(verdict)).not.toContain("SENTINEL");
  });

  it("F-6, F-14: a redirect is refused, answered, and shows no userinfo and no query", () => {
    const headers = { location: "https://user:pass@elsewhere.test/mcp/?token=secret#x" };
    const verdict = answer(307, "", "", { headers });
    expect(verdict).toMatchObject({
      error: {
        code: "redirect_refused",
        delivery: "answered",
        details: { status: 307, location: "https://elsewhere.test/mcp/?token=…" },
      },
    });
    expect(JSON.stringify(verdict)).not.toMatch(/secret|pass/);
  });
});
