import { describe, expect, it } from "vitest";
import { classifyHttpAnswer, refusalOf } from "../../../../src/legacy-client/http/classify-http-answer.js";
import type { WholeAnswer } from "../../../../src/transport/index.js";

const URL_OF = new URL("https://host/mcp");

function answer(
  status: number,
  body: string,
  mediaType = "application/json",
  more: Partial<WholeAnswer> = {},
): WholeAnswer {
  const head = { status, mediaType, headers: { "retry-after": "7" } };
  return { head, body: Buffer.from(body), isWhole: true, url: URL_OF, ...more };
}

const error = (id: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -1, message: "m" } });
const result = (id: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, result: {} });

describe("classifyHttpAnswer", () => {
  it.each<[string, WholeAnswer]>([
    ["a result", answer(200, result(4))],
    ["an error", answer(200, error(4))],
    ["what is no response, which is told later", answer(200, "[]")],
    ["a body behind a byte order mark", answer(200, `\ufeff${result(4)}`)],
  ])("F-1: hands on the JSON of a success: %s", (_what, given) => {
    expect(classifyHttpAnswer(given, 4)).toMatchObject({ kind: "json", context: undefined });
  });

  it.each<[string, WholeAnswer]>([
    ["ours", answer(400, error(4))],
    ["ours as a string", answer(500, error("4"))],
    ["null", answer(404, error(null))],
    ["in an event", answer(503, `data: ${error(4)}\n\n`, "text/event-stream")],
    ["as plain text", answer(401, error(4), "text/plain")],
  ])("F-3: a JSON-RPC error counts at any status and media type, with the id %s", (_what, given) => {
    const context = { httpStatus: given.head.status, retryAfter: "7" };
    expect(classifyHttpAnswer(given, 4)).toMatchObject({ kind: "json", context });
  });

  it.each<[string, WholeAnswer, string, string]>([
    ["HTML", answer(200, "<html>", "text/html"), "unexpected_answer", "unknown"],
    ["no JSON", answer(200, "{"), "unexpected_answer", "unknown"],
    ["another's error", answer(400, error(5)), "unexpected_answer", "answered"],
    ["a result at a refusal", answer(500, result(4)), "unexpected_answer", "answered"],
    ["500", answer(500, ""), "unexpected_answer", "unknown"],
    ["408", answer(408, ""), "unexpected_answer", "unknown"],
    ["403", answer(403, ""), "unexpected_answer", "answered"],
    ["a cut refusal", answer(400, error(4).slice(0, 9), undefined, { isWhole: false }), "unexpected_answer", "unknown"],
    ["a redirect", answer(302, ""), "redirect_refused", "answered"],
  ])("F-1: %s", (_what, given, code, delivery) => {
    expect(classifyHttpAnswer(given, 4)).toMatchObject({ kind: "failed", error: { code, delivery } });
  });

  it.each([
    ["202", answer(202, "", "")],
    ["202 with text", answer(202, "Accepted", "text/plain")],
    ["204", answer(204, "", "")],
    ["200 and nothing", answer(200, "")],
  ])("L-5: %s only says that the request was taken", (_what, given) => {
    const verdict = { kind: "taken", error: { code: "unexpected_answer", delivery: "unknown" } };
    expect(classifyHttpAnswer(given, 4)).toMatchObject(verdict);
  });

  it("L-5: 202 with the response is the response", () => {
    expect(classifyHttpAnswer(answer(202, result(4)), 4)).toMatchObject({ kind: "json" });
  });

  it.each<[string, WholeAnswer, object]>([
    ["a JSON-RPC error", answer(404, error(null)), { code: "peer_error", details: { httpStatus: 404 } }],
    ["a redirect", answer(301, ""), { code: "redirect_refused" }],
    [
      "anything",
      answer(418, "tea", "text/plain"),
      { code: "unexpected_answer", details: { status: 418, snippet: "tea" } },
    ],
  ])("F-1: a refusal is %s", (_what, given, expected) => {
    expect(refusalOf(given)).toMatchObject(expected);
  });
});
