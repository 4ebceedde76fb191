import { describe, expect, it } from "vitest";
import { type LegacyStdioOptions, resolveLegacyStdioOptions } from "../../../src/legacy-client/stdio-options.js";

const MINIMAL = { command: "server", clientInfo: { name: "c", version: "1" } };

function refusal(option: string, more: object = {}): unknown {
  return expect.objectContaining({
    code: "invalid_options",
    delivery: "not_sent",
    details: expect.objectContaining({ option, ...more }),
  });
}

describe("resolveLegacyStdioOptions", () => {
  it("F-7, L-13, L-14, L-15: knows the defaults", () => {
    expect(resolveLegacyStdioOptions(MINIMAL)).toMatchObject({
      process: {
        command: "server",
        args: [],
        cwd: undefined,
        env: {},
        inheritEnvironment: false,
        stderrTailBytes: 65_536,
        maxQueuedMessages: 1_000,
        closeGraceMs: 2_000,
      },
      revisions: ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      callDeadlines: { connectTimeoutMs: 30_000, idleTimeoutMs: 60_000, totalTimeoutMs: 3_600_000 },
      lifecycleDeadlines: { connectTimeoutMs: 30_000, idleTimeoutMs: 60_000, totalTimeoutMs: 120_000 },
      maxLineBytes: 16_777_216,
      walk: { maxPages: 64, maxItems: 10_000, maxListBytes: 67_108_864 },
    });
  });

  it("keeps the call's deadlines apart from those of the lifecycle", () => {
    const config = resolveLegacyStdioOptions({ ...MINIMAL, totalTimeoutMs: 5, lifecycleTimeoutMs: Infinity });
    expect(config.callDeadlines.totalTimeoutMs).toBe(5);
    expect(config.lifecycleDeadlines.totalTimeoutMs).toBe(Infinity);
  });

  it("F-6: takes configured values and given secrets for secrets, short words aside", () => {
    const config = resolveLegacyStdioOptions({
      ...MINIMAL,
      env: { KEY: "abcdef", FLAG: "1", GONE: undefined },
      secrets: ["xyz"],
    });
    expect(config.process.redaction.apply("abcdef 1 xyz undefined")).toBe("[redacted] 1 [redacted] undefined");
  });

  it.each<[string, object]>([
    ["command", { command: "" }],
    ["command", { command: undefined }],
    ["args", { args: [1] }],
    ["clientInfo", { clientInfo: undefined }],
    ["clientInfo", { clientInfo: { name: "c" } }],
    ["revisions", { revisions: [] }],
    ["revisions", { revisions: ["2026-07-28"] }],
    ["idleTimeoutMs", { idleTimeoutMs: 0 }],
    ["lifecycleTimeoutMs", { lifecycleTimeoutMs: -1 }],
    ["closeGraceMs", { closeGraceMs: Number.NaN }],
    ["maxLineBytes", { maxLineBytes: 0 }],
    ["stderrTailBytes", { stderrTailBytes: Infinity }],
    ["maxQueuedMessages", { maxQueuedMessages: 1.5 }],
    ["maxPages", { maxPages: 0 }],
  ])("refuses a wrong %s: %j", (option, wrong) => {
    const options: LegacyStdioOptions = Object.assign({}, MINIMAL, wrong);
    expect(() => resolveLegacyStdioOptions(options)).toThrow(refusal(option));
  });

  it("names the option that was probably meant", () => {
    const options: LegacyStdioOptions = Object.assign({}, MINIMAL, { maxLineByte: 1 });
    expect(() => resolveLegacyStdioOptions(options)).toThrow(refusal("maxLineByte", { suggestion: "maxLineBytes" }));
  });
});
