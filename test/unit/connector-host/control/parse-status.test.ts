import { describe, expect, it } from "vitest";
import type { HostStatus } from "../../../../src/connector-host/control/index.js";
import { parseHostStatus } from "../../../../src/connector-host/control/parse-status.js";

const STATUS: HostStatus = {
  host: { name: "desk", version: "1.2.3" },
  processId: 42,
  nodeVersion: "v20.20.0",
  url: "http://127.0.0.1:1/mcp",
  login: { accountId: "ada", generation: 1 },
  connectors: [
    { connectorKey: "a", state: "ready", reason: undefined, since: 0, nextAttemptAt: undefined },
    { connectorKey: "b", state: "offline", reason: "timeout", since: 1, nextAttemptAt: 2 },
  ],
  issues: [{ file: "odd.json", member: "", reason: "not JSON" }],
  gates: { account: "open", device: "closed" },
  agents: { bindings: 1, durableBindings: 2, sessions: 3, listeners: 4, requests: 0 },
};

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("the status of a host", () => {
  it("R-5: is read as it was written", () => {
    expect(parseHostStatus(bytes(STATUS))).toEqual(STATUS);
    expect(parseHostStatus(bytes({ ...STATUS, login: undefined, connectors: [] }))).toEqual({
      ...STATUS,
      login: undefined,
      connectors: [],
    });
  });

  it("R-5: of a newer host is read as far as it is known, new states included", () => {
    const [connector] = STATUS.connectors;
    const newer = { ...STATUS, news: 1, connectors: [{ ...connector, state: "hibernating", mood: "fine" }] };
    expect(parseHostStatus(bytes(newer))).toEqual({ ...STATUS, connectors: [{ ...connector, state: "hibernating" }] });
  });

  it("R-5: of an older host is read without what it does not say", () => {
    const { issues: _issues, gates: _gates, agents: _agents, ...older } = STATUS;
    expect(parseHostStatus(bytes(older))).toEqual({ ...older, issues: [], gates: undefined, agents: undefined });
  });

  it.each([
    ["no JSON", new TextEncoder().encode("<html>")],
    ["no object", bytes([])],
    ["without a member", bytes({ ...STATUS, processId: undefined })],
    ["with a member of another type", bytes({ ...STATUS, url: 1 })],
    ["with a gate that is neither open nor closed", bytes({ ...STATUS, gates: { account: "ajar", device: "open" } })],
    ["with a connector that is none", bytes({ ...STATUS, connectors: [{ state: "ready" }] })],
  ])("R-5: that is %s is invalid_answer", (_, body) => {
    expect(() => parseHostStatus(body)).toThrow(
      expect.objectContaining({ code: "invalid_answer", delivery: "answered" }),
    );
  });
});
