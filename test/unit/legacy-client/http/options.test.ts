import { describe, expect, it } from "vitest";
import { resolveLegacyHttpOptions } from "../../../../src/legacy-client/http/options.js";
import { resolveLegacySSEOptions } from "../../../../src/legacy-client/http/sse-options.js";

const NEEDED = { endpoint: "https://host/mcp", clientInfo: { name: "n", version: "1" } };

describe.each<[string, (options: object) => unknown]>([
  ["resolveLegacyHttpOptions", (options) => resolveLegacyHttpOptions({ ...NEEDED, ...options })],
  ["resolveLegacySSEOptions", (options) => resolveLegacySSEOptions({ ...NEEDED, ...options })],
])("%s", (_name, resolve) => {
  it.each<[object, string]>([
    [{ idleTimeoutMS: 1 }, "invalid_options"],
    [{ clientInfo: { name: "n" } }, "invalid_options"],
    [{ revisions: [] }, "invalid_options"],
    [{ revisions: ["2026-07-28"] }, "invalid_options"],
    [{ lifecycleTimeoutMs: -1 }, "invalid_options"],
    [{ endpoint: "http://host/mcp" }, "invalid_url"],
    [{ endpoint: "https://u:p@host/mcp" }, "invalid_url"],
    [{ headers: { "Mcp-Session-Id": "x" } }, "invalid_header"],
    [{ headers: { Accept: "x" } }, "invalid_header"],
    [{ headers: { cookie: "a=b" }, cookies: true }, "invalid_header"],
    [{ authorize: "token" }, "invalid_options"],
  ])("refuses %j: %s", (options, code) => {
    expect(() => resolve(options)).toThrow(expect.objectContaining({ code, delivery: "not_sent" }));
  });

  it("fills in what is left out", () => {
    expect(resolve({})).toMatchObject({
      callDeadlines: { connectTimeoutMs: 30_000, idleTimeoutMs: 60_000, totalTimeoutMs: 3_600_000 },
      lifecycleDeadlines: { totalTimeoutMs: 120_000 },
      revisions: ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      headers: [],
    });
  });
});

describe("resolveLegacyHttpOptions", () => {
  it.each<[object]>([[{ listen: "sometimes" }], [{ maxFruitlessResumes: -1 }], [{ longestRetryMs: Number.NaN }]])(
    "refuses %j",
    (options) => {
      expect(() => resolveLegacyHttpOptions({ ...NEEDED, ...options })).toThrow(
        expect.objectContaining({ code: "invalid_options" }),
      );
    },
  );

  it("L-5: knows how streams are taken up again", () => {
    expect(resolveLegacyHttpOptions(NEEDED)).toMatchObject({
      listen: "auto",
      resume: { maxFruitlessResumes: 5, longestRetryMs: 300_000 },
    });
  });
});
