import { describe, expect, it } from "vitest";
import {
  isSessionLoss,
  missesVersionHeader,
  readSessionId,
  Session,
} from "../../../../src/legacy-client/http/session.js";

const INTRODUCTION = { capabilities: {}, serverInfo: undefined, instructions: undefined };

describe("Session", () => {
  it("L-1, L-2: binds everything to the negotiated revision and the id", () => {
    const session = new Session(2, "id", { ...INTRODUCTION, revision: "2025-03-26" }, ["X-Own", "1"]);
    expect(session.postHeaders).toEqual([
      "Content-Type",
      "application/json",
      "Accept",
      "application/json, text/event-stream",
      "MCP-Protocol-Version",
      "2025-03-26",
      "Mcp-Session-Id",
      "id",
      "X-Own",
      "1",
    ]);
    expect(session.getHeaders.slice(0, 4)).toEqual([
      "Accept",
      "text/event-stream",
      "MCP-Protocol-Version",
      "2025-03-26",
    ]);
    expect(session.takesBatches).toBe(true);
  });

  it("L-2: without an id it names none", () => {
    const session = new Session(1, undefined, { ...INTRODUCTION, revision: "2025-11-25" }, []);
    expect([...session.postHeaders, ...session.getHeaders]).not.toContain("Mcp-Session-Id");
    expect(session.takesBatches).toBe(false);
  });

  it.each<[string | string[] | undefined, string | undefined]>([
    ["abc", "abc"],
    ["!~", "!~"],
    ["0", "0"],
    ["", undefined],
    ["a b", undefined],
    ["a\u007f", undefined],
    ["\u00e4", undefined],
    [undefined, undefined],
    [["a", "b"], undefined],
  ])("L-2: the id %j is read as %j", (value, id) => {
    const headers = { "mcp-session-id": value };
    expect(readSessionId({ status: 200, mediaType: "", headers })).toBe(id);
  });

  it.each<[number, string, boolean]>([
    [404, "", true],
    [404, "<html>", true],
    [400, '{"error":{"message":"No valid session ID provided"}}', true],
    [400, "SESSION expired", true],
    [400, "bad request", false],
    [401, "session", false],
    [410, "session", false],
    [500, "session", false],
  ])("L-3: %i with %j is a lost session: %s", (status, body, isLost) => {
    expect(isSessionLoss(status, body)).toBe(isLost);
  });

  it.each<[number, string, boolean]>([
    [400, "Missing Mcp-Protocol-Version header", true],
    [400, "bad protocol version", false],
    [403, "MCP-Protocol-Version", false],
  ])("L-1: %i with %j misses the version header: %s", (status, body, isMissed) => {
    expect(missesVersionHeader(status, body)).toBe(isMissed);
  });
});
