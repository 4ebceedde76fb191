import { describe, expect, it } from "vitest";
import type { Answer } from "../../../src/protocol/message-channel.js";
import type { ReceivedAnswer } from "../../../src/legacy-client/connection.js";
import { detailed, detailedLocally, readList } from "../../../src/legacy-client/read-answer.js";
import type { Diagnostic } from "../../../src/protocol/index.js";

function received(answer: Answer, line = ""): ReceivedAnswer & { diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  return { answer, line: new TextEncoder().encode(line), diagnostics, note: (noted) => diagnostics.push(noted) };
}

const notFound: Answer = { kind: "error", error: { code: -32601, message: "Method not found" } };

describe("readList", () => {
  it("L-10: reads a declared list that is not there as empty, with a diagnostic", () => {
    const answer = received(notFound);
    expect(readList("tools/list", answer)).toEqual({ tools: [] });
    expect(answer.diagnostics).toMatchObject([{ kind: "declared_but_missing", subject: "tools/list" }]);
  });

  it.each<[string, string, Answer]>([
    ["a method that is no list", "tools/call", notFound],
    ["another error", "tools/list", { kind: "error", error: { code: -32603, message: "" } }],
  ])("F-3: hands the error on for %s", (_name, method, answer) => {
    expect(() => readList(method, received(answer))).toThrow(
      expect.objectContaining({ code: "peer_error", delivery: "answered" }),
    );
  });
});

describe("detailed", () => {
  it("W-45: has the result's exact bytes, as a copy", () => {
    const line = '{"id":1,"result":{"n":12345678901234567890,"x":1.0},"jsonrpc":"2.0"}';
    const answer = received({ kind: "result", result: {} }, line);
    const { raw, delivery } = detailed({}, answer);
    expect(new TextDecoder().decode(raw)).toBe('{"n":12345678901234567890,"x":1.0}');
    expect(raw.buffer.byteLength).toBe(raw.length);
    expect(delivery).toBe("answered");
  });

  it("copies out of a Buffer, too", () => {
    const answer = { ...received({ kind: "result", result: {} }), line: Buffer.from('{"result":{"a":1}}') };
    expect(detailed({}, answer).raw.buffer.byteLength).toBe(7);
  });

  it("encodes a result that no server gave", () => {
    expect(new TextDecoder().decode(detailedLocally({ tools: [] }).raw)).toBe('{"tools":[]}');
    expect(new TextDecoder().decode(detailed({ tools: [] }, received(notFound)).raw)).toBe('{"tools":[]}');
  });
});
