import { describe, expect, it } from "vitest";
import type { ConnectorStatus } from "../../../../src/connector-host/host/connector-status.js";
import { StatusLog } from "../../../../src/connector-host/host/status-log.js";
import { silentLogger } from "../../../../src/transport/index.js";
import { settle } from "../../../support/fake-clock.js";

function bench() {
  const told: Record<string, unknown>[] = [];
  const log = new StatusLog({
    ...silentLogger,
    info: (message, fields) => void told.push({ message, ...fields }),
  });
  const note = (connectorKey: string, changes: Partial<ConnectorStatus> = {}): void => {
    const status = {
      connectorKey,
      state: "ready",
      reason: undefined,
      since: 1_000,
      nextAttemptAt: undefined,
      ...changes,
    } as const;
    log.note({ seq: 1, at: 4_000, status, previous: undefined });
  };
  return { told, note };
}

describe("StatusLog", () => {
  it("H-36: a line for each change, by the renderer of all", async () => {
    const { told, note } = bench();
    note("files");
    note("mail", { state: "offline", reason: "connect_failed", nextAttemptAt: 9_000 });
    note("files", { state: "disabled", reason: "switched_off" });
    await settle();
    expect(told.map(({ line }) => line)).toEqual([
      "files: ready for 3 s",
      "mail: offline (connect_failed) for 3 s, next attempt in 5 s",
      "files: disabled (switched_off) for 3 s",
    ]);
    expect(told[1]).toMatchObject({
      connectorKey: "mail",
      state: "offline",
      reason: "connect_failed",
      nextAttemptAt: 9_000,
    });
    expect(new Set(told.map(({ message }) => message)).size).toBe(1);
  });

  it("H-36: of many at once twenty have lines, those that are not well first of all, and the last says how many others", async () => {
    const { told, note } = bench();
    for (let n = 0; n < 30; n += 1) note(`k${String(n)}`, n === 29 ? { state: "failed" } : {});
    await settle();
    expect(told).toHaveLength(21);
    expect(told.map(({ line }) => line)).toContain("k29: failed for 3 s");
    expect(told.at(-1)).toMatchObject({ line: "+10 more", more: 10 });
    note("one");
    await settle();
    expect(told).toHaveLength(22);
  });
});
