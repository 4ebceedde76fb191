import { describe, expect, it } from "vitest";
import { matchesResource } from "../../../../src/oauth/discovery/index.js";

describe("matchesResource", () => {
  it.each([
    ["https://m.test/mcp", "https://m.test/mcp"],
    ["https://m.test", "https://m.test/mcp"],
    ["https://m.test/", "https://m.test/mcp"],
    ["https://m.test", "https://m.test/"],
    ["https://m.test/mcp/", "https://m.test/mcp"],
    ["https://m.test/mcp", "https://m.test/mcp/"],
    ["https://m.test/a", "https://m.test/a/b/mcp"],
    ["https://m.test/a/", "https://m.test/a/b/mcp"],
    ["HTTPS://M.TEST:443/mcp", "https://m.test/mcp"],
    ["https://m.test/x/../mcp", "https://m.test/mcp"],
    ["https://m.test/mcp", "https://m.test/mcp?t=1"],
    ["https://m.test", "https://m.test/mcp?t=1"],
    ["https://m.test/mcp?t=1", "https://m.test/mcp?t=1"],
    ["https://m.test/mcp/?t=1", "https://m.test/mcp?t=1"],
    ["http://localhost:3000", "http://localhost:3000/mcp"],
  ])("A-2: %s is the resource of %s", (resource, endpoint) => {
    expect(matchesResource(resource, new URL(endpoint))).toBe(true);
  });

  it.each([
    ["https://m.test/mc", "https://m.test/mcp"],
    ["https://m.test/mcp/sub", "https://m.test/mcp"],
    ["https://m.test/mcp//", "https://m.test/mcp"],
    ["https://m.test/MCP", "https://m.test/mcp"],
    ["https://m.test/other", "https://m.test/mcp"],
    ["https://m.test/mcp/..%2fother", "https://m.test/mcp"],
    ["https://evil.test/mcp", "https://m.test/mcp"],
    ["https://m.test.evil.test/mcp", "https://m.test/mcp"],
    ["https://sub.m.test/mcp", "https://m.test/mcp"],
    ["https://m.test@evil.test/mcp", "https://m.test/mcp"],
    ["https://evil@m.test/mcp", "https://m.test/mcp"],
    ["https://m.test:8443/mcp", "https://m.test/mcp"],
    ["http://m.test/mcp", "https://m.test/mcp"],
    ["https://m.test/mcp#", "https://m.test/mcp"],
    ["https://m.test/mcp#part", "https://m.test/mcp"],
    ["https://m.test/mcp?t=1", "https://m.test/mcp"],
    ["https://m.test/mcp?t=1", "https://m.test/mcp?t=2"],
    ["https://m.test/?t=1", "https://m.test/mcp?t=1"],
    ["https://m.test\\@victim.test/mcp", "https://m.test/@victim.test/mcp"],
    ["https://m.test\\mcp", "https://m.test/mcp"],
    ["https://m.te\tst/mcp", "https://m.test/mcp"],
    ["https://m.test/m\r\ncp", "https://m.test/mcp"],
    [" https://m.test/mcp", "https://m.test/mcp"],
    ["https://m.test/mcp\u0000", "https://m.test/mcp"],
    ["blob:https://m.test/mcp", "https://m.test/mcp"],
    ["m.test/mcp", "https://m.test/mcp"],
    ["/mcp", "https://m.test/mcp"],
    ["urn:m", "https://m.test/mcp"],
    ["", "https://m.test/mcp"],
  ])("A-2: %j is not the resource of %s", (resource, endpoint) => {
    expect(matchesResource(resource, new URL(endpoint))).toBe(false);
  });
});
