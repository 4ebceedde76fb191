import { describe, expect, it } from "vitest";
import type { Cell } from "../../interop/column.js";
import { AGENT_KINDS } from "../../interop/host/agent-kind.js";
import { isHostPassed, reportHost } from "../../interop/host/report-host.js";
import { HOST_COLUMNS, type HostColumn, type HostRow } from "../../interop/host/host-row.js";
import { UPSTREAMS } from "../../interop/host/upstream.js";

const OK: Cell = { kind: "ok", ms: 7 };

function row(failed: readonly HostColumn[] = []): HostRow {
  const [agent] = AGENT_KINDS;
  const [upstream] = UPSTREAMS;
  if (agent === undefined || upstream === undefined) throw new Error("there are none");
  const cellOf = (column: HostColumn): Cell =>
    failed.includes(column) ? { kind: "failed", reason: `no ${column}`, ms: 1 } : OK;
  const asked = { elicit: OK, visit: OK, sample: OK, roots: OK };
  const cells = { connect: OK, list: OK, call: OK, progress: OK, cancel: OK, prompt: OK, read: OK, subscribe: OK };
  const filled: Record<HostColumn, Cell> = { ...cells, ...asked, close: OK };
  for (const column of HOST_COLUMNS) filled[column] = cellOf(column);
  return { agent, upstream, cells: filled };
}

describe("the matrix with a host between", () => {
  it("counts every cell in its last line", () => {
    expect(reportHost([row(), row()]).split("\n").at(-1)).toBe("interop host: 26 of 26");
    expect(
      reportHost([row(["read", "call"])])
        .split("\n")
        .at(-1),
    ).toBe("interop host: 11 of 13");
  });

  it("numbers what failed, and says why", () => {
    const lines = reportHost([row(["call"]), row(["read"])]).split("\n");
    expect(lines[1]).toMatch(/^client \S+ +2026-07-28 +HTTP +server \S+ +modern +HTTP +ok 7 +ok 7 +FAILED 1 /);
    expect(lines[2]).toContain("FAILED 2");
    expect(lines.slice(4, 6).map((line) => line.replace(/^(\d) .*: (\w+: .*)$/, "$1 $2"))).toEqual([
      "1 call: no call",
      "2 read: no read",
    ]);
  });

  it("passes only when something was tried and nothing failed", () => {
    expect([isHostPassed([row()]), isHostPassed([row(), row(["close"])]), isHostPassed([])]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
