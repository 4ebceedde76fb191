import { describe, expect, it } from "vitest";
import type { Cell } from "../../interop/column.js";
import { isPassed, report, type Row } from "../../interop/report.js";
import type { Cells } from "../../interop/run-row.js";

const OK: Cell = { kind: "ok", ms: 7 };
const LACK: Cell = { kind: "cannot", reason: "The server declares no prompts." };
const FAILURE: Cell = { kind: "failed", reason: "too late", ms: 9 };

function row(changes: Partial<Cells> = {}, transport = "stdio"): Row {
  const tried = { connect: OK, tools: OK, resources: OK, prompts: OK, call: OK, progress: OK, cancel: OK };
  const cells: Cells = { ...tried, read: OK, notify: OK, elicit: OK, close: OK, ...changes };
  return { server: "sdk 1", transport, revision: "2025-11-25", by: "auto", cells };
}

function lastLine(text: string): string | undefined {
  return text.split("\n").at(-1);
}

describe("the report of the matrix", () => {
  it("counts cells and servers", () => {
    const rows = [row(), row(), row({}, "HTTP")];
    expect(lastLine(report(rows))).toBe("interop: 33 of 33 cells, 2 servers");
    expect(isPassed(rows)).toBe(true);
  });

  it("leaves out what can't be tried, and says why, once", () => {
    const rows = [row({ prompts: LACK }), row({ prompts: LACK, elicit: { ...LACK, reason: "It asks nothing." } })];
    const text = report(rows);
    expect(lastLine(text)).toBe("interop: 19 of 19 cells, 1 servers");
    expect(text.match(/^[a-z] {2}.+$/gm)).toEqual(["a  The server declares no prompts.", "b  It asks nothing."]);
    expect(text.split("\n")[1]).toContain("-  a");
    expect(isPassed(rows)).toBe(true);
  });

  it("names each failure by its row", () => {
    const rows = [row(), row({ call: FAILURE, read: FAILURE }, "HTTP")];
    const text = report(rows);
    expect(text.match(/^\d {2}.+$/gm)).toEqual([
      "1  sdk 1, HTTP, 2025-11-25, auto: call: too late",
      "2  sdk 1, HTTP, 2025-11-25, auto: read: too late",
    ]);
    expect(lastLine(text)).toBe("interop: 20 of 22 cells, 2 servers");
    expect(isPassed(rows)).toBe(false);
  });

  it("has not passed when nothing was tried", () => {
    expect(isPassed([])).toBe(false);
  });
});
