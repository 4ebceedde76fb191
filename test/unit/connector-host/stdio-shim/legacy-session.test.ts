import { describe, expect, it } from "vitest";
import { agreementOf, handshakeOf } from "../../../../src/connector-host/stdio-shim/legacy-session.js";

const line = (protocolVersion: string): Buffer =>
  Buffer.from(
    `{"jsonrpc":"2.0","id":12345678901234567890,"method":"initialize","params":{"x":1,"protocolVersion":"${protocolVersion}"}}`,
  );

function answer(result: object, more: { status?: number; headers?: Record<string, string> } = {}) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  return { status: 200, headers: {}, body, ...more };
}

describe("H-22, H-23: a handshake", () => {
  it("goes to the host as it came, but for the revision that has no transport over HTTP", () => {
    expect(Buffer.from(handshakeOf(line("2025-06-18"), "2025-06-18").body)).toEqual(line("2025-06-18"));
    const { standsFor, body } = handshakeOf(line("2024-11-05"), "2024-11-05");
    expect(standsFor).toBe("2024-11-05");
    expect(Buffer.from(body)).toEqual(line("2025-03-26"));
  });

  it("is agreed on by the host's own word", () => {
    const handshake = handshakeOf(line("2025-06-18"), "2025-06-18");
    const capabilities = {
      tools: { listChanged: true },
      prompts: {},
      resources: { listChanged: true, subscribe: true },
    };
    const headers = { "mcp-session-id": "s1" };
    const agreed = agreementOf(handshake, answer({ protocolVersion: "2025-11-25", capabilities }, { headers }));
    expect(agreed).toMatchObject({
      revision: "2025-11-25",
      wireRevision: "2025-11-25",
      sessionId: "s1",
      announced: ["tools", "resources"],
    });
  });

  it("at 2024-11-05 names that to the agent only when the host took what stands in for it", () => {
    const handshake = handshakeOf(line("2024-11-05"), "2024-11-05");
    const agreed = agreementOf(handshake, answer({ protocolVersion: "2025-03-26", capabilities: {} }));
    expect(agreed).toMatchObject({ revision: "2024-11-05", wireRevision: "2025-03-26", sessionId: undefined });
    expect(Buffer.from(agreed?.line ?? []).toString()).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{}}}',
    );
    const other = agreementOf(handshake, answer({ protocolVersion: "2025-11-25", capabilities: {} }));
    expect(other?.revision).toBe("2025-11-25");
  });

  it.each([
    [
      "an error",
      { status: 200, headers: {}, body: Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}') },
    ],
    ["a refusal", answer({ protocolVersion: "2025-11-25" }, { status: 403 })],
    ["a result without a revision", answer({})],
  ])("is not agreed on by %s", (_what, given) => {
    expect(agreementOf(handshakeOf(line("2025-11-25"), "2025-11-25"), given)).toBeUndefined();
  });

  it("has no session when the host's id for it is none", () => {
    const given = answer({ protocolVersion: "2025-11-25", capabilities: {} }, { headers: { "mcp-session-id": "a b" } });
    expect(agreementOf(handshakeOf(line("2025-11-25"), "2025-11-25"), given)?.sessionId).toBeUndefined();
  });
});
