import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConnectorStatus } from "../../../../src/connector-host/host/index.js";
import { readConnectorState, reportStatus, type StatusRow } from "../../../../src/connector-host/status/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";

const now = Date.UTC(2026, 11, 1);
const states = [
  "not_installed",
  "disabled",
  "authorization_required",
  "starting",
  "ready",
  "degraded",
  "offline",
  "failed",
] as const;

function row(changes: Partial<StatusRow> = {}): StatusRow {
  return { connectorKey: "files", state: "ready", ...changes };
}

function lineOf(changes: Partial<StatusRow>): string | undefined {
  return reportStatus([row(changes)], { now }).lines[0];
}

function many(count: number, state: string): StatusRow[] {
  return Array.from({ length: count }, (_, index) => row({ connectorKey: `${state}-${String(index)}`, state }));
}

describe("H-36: a line says what a connector is at", () => {
  it.each([
    [{}, "files: ready"],
    [{ since: now - 180_999 }, "files: ready for 3 min"],
    [{ state: "authorization_required", reason: "signed_out" }, "files: authorization_required (signed_out)"],
    [
      { state: "offline", reason: "connect_failed", since: now - 12_000, nextAttemptAt: now + 5_000 },
      "files: offline (connect_failed) for 12 s, next attempt in 5 s",
    ],
    [{ state: "failed", nextAttemptAt: now }, "files: failed, next attempt now"],
    [{ state: "failed", nextAttemptAt: now - 1 }, "files: failed, next attempt now"],
    [{ state: "failed", nextAttemptAt: now + 1 }, "files: failed, next attempt in 0 s"],
    [{ since: now + 60_000 }, "files: ready for 0 s"],
    [{ since: now - 59_999 }, "files: ready for 59 s"],
    [{ since: now - 3_600_000 }, "files: ready for 1 h"],
    [{ since: now - 86_400_000 * 2.9 }, "files: ready for 2 d"],
    [{ since: 0 }, "files: ready for 9999 d"],
    [{ since: -1e300, nextAttemptAt: 1e300 }, "files: ready for 9999 d, next attempt in 9999 d"],
    [{ since: NaN, nextAttemptAt: Infinity, reason: "" }, "files: ready"],
  ])("%j", (changes, line) => {
    expect(lineOf(changes)).toBe(line);
  });

  it("and the fields say the same, a time of 0 too", () => {
    const status: ConnectorStatus = {
      connectorKey: "files",
      state: "offline",
      reason: "timeout",
      since: 0,
      nextAttemptAt: 0,
    };
    const { connectors, more } = reportStatus([status], { now });
    expect(connectors).toEqual([{ ...status, line: expect.stringContaining("files: offline (timeout) for ") }]);
    expect(more).toBe(0);
  });
});

describe("H-36: an unknown state reads offline", () => {
  it.each(["", "quarantined", "READY", "constructor", "__proto__", "ready "])("%j", (word) => {
    expect(readConnectorState(word)).toBe("offline");
    expect(lineOf({ state: word })).toBe("files: offline");
  });

  it.each(states)("%s is known", (state) => {
    expect(readConnectorState(state)).toBe(state);
    expect(lineOf({ state })).toBe(`files: ${state}`);
  });
});

describe("H-36: +N more", () => {
  it("counts what is not shown", () => {
    const rows = many(25, "ready");
    const { connectors, lines, more } = reportStatus(rows, { now });
    expect([connectors.length, more, lines.length]).toEqual([20, 5, 21]);
    expect(lines.at(-1)).toBe("+5 more");
    expect(lines.at(-2)).toBe("ready-19: ready");
    expect(reportStatus(rows, { now, maxConnectors: 1 }).lines).toEqual(["ready-0: ready", "+24 more"]);
    expect(reportStatus(rows, { now, maxConnectors: 24 }).lines.at(-1)).toBe("+1 more");
  });

  it("is not said when all are shown", () => {
    const rows = many(25, "ready");
    expect(reportStatus(rows, { now, maxConnectors: 25 }).lines).toHaveLength(25);
    expect(reportStatus(rows, { now, maxConnectors: Infinity }).lines).toHaveLength(25);
    expect(reportStatus([], { now })).toEqual({ connectors: [], more: 0, lines: [] });
  });

  it("never hides one that is not well behind one that is; the order stays", () => {
    const rows = [...many(2, "ready"), ...many(1, "failed"), ...many(2, "starting"), ...many(1, "quarantined")];
    const { lines } = reportStatus(rows, { now, maxConnectors: 3 });
    expect(lines).toEqual(["failed-0: failed", "starting-0: starting", "quarantined-0: offline", "+3 more"]);
  });
});

describe("H-36: text of others is shown plain and bounded", () => {
  it.each([
    ["a line feed", "a\nb", "a b: ready"],
    ["a terminal's sequence", "\u001b[31mred\u001b[0m", "[31mred [0m: ready"],
    ["marks of direction and of no width", "a\u202eb\u2066c\u200bd\ufeffe\u061cf", "a b c d e f: ready"],
    ["other spaces and separators", "a\u2028b\u00a0\u3000c", "a b c: ready"],
    ["half of a pair", "a\ud800b", "a b: ready"],
    ["a flood of control characters", `${"\u0007".repeat(1_000)}files`, "…: ready"],
  ])("%s", (_, connectorKey, line) => {
    expect(lineOf({ connectorKey })).toBe(line);
  });

  it("a line keeps its state, however long the key is", () => {
    const long = { connectorKey: "k".repeat(5_000), state: "authorization_required", reason: "r".repeat(5_000) };
    const { connectors, lines } = reportStatus([long], { now, maxLineLength: 60 });
    expect(lines).toEqual([`${"k".repeat(29)}…: authorization_required (${"r".repeat(3)}…`]);
    expect(connectors[0]?.connectorKey).toBe(`${"k".repeat(127)}…`);
    expect(connectors[0]?.reason).toBe(`${"r".repeat(63)}…`);
  });

  it("whatever a row holds", () => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom("💥".repeat(200), "\ud83d"));
    const any = fc.record({
      connectorKey: text,
      state: fc.oneof(text, fc.constantFrom(...states)),
      reason: fc.option(text, { nil: undefined }),
      since: fc.option(fc.double(), { nil: undefined }),
      nextAttemptAt: fc.option(fc.double(), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 8 }), fc.integer({ min: 60, max: 150 }), (rows, maxLineLength) => {
        const { connectors, lines, more } = reportStatus(rows, { now, maxConnectors: 5, maxLineLength });
        expect(connectors.length + more).toBe(rows.length);
        expect(lines.length).toBeLessThanOrEqual(6);
        for (const line of lines) {
          expect(Array.from(line).length).toBeLessThanOrEqual(maxLineLength);
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        }
        for (const { connectorKey, state, reason = "" } of connectors) {
          expect(Array.from(connectorKey).length).toBeLessThanOrEqual(128);
          expect(Array.from(reason).length).toBeLessThanOrEqual(64);
          expect(connectorKey + reason).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          expect(states).toContain(state);
        }
      }),
      { seed: 36, numRuns: 500 },
    );
  });
});

describe("H-36: options of the renderer", () => {
  it.each([
    [{}],
    [{ now: NaN }],
    [{ now: "0" }],
    [{ now, maxConnectors: 0 }],
    [{ now, maxLineLength: 59 }],
    [{ now, maxLines: 5 }],
  ])("%j is refused", (options: object) => {
    let code: string | undefined;
    try {
      Reflect.apply(reportStatus, undefined, [[], options]);
    } catch (error) {
      code = isRemoteConnectorError(error) ? error.code : undefined;
    }
    expect(code).toBe("invalid_options");
  });
});
