import { describe, expect, it } from "vitest";
import type { ConnectStdioOptions } from "../../../../src/connect/index.js";
import { startOptions } from "../../../../src/connect/supervision/start-options.js";

const clientInfo = { name: "test", version: "1" };
const GIVEN: ConnectStdioOptions = { command: "server", clientInfo };

function start(given: Partial<ConnectStdioOptions> = {}) {
  const leaving: Promise<void>[] = [];
  const told = { changes: 0 };
  const { signal } = new AbortController();
  const options = startOptions({ ...GIVEN, ...given }, { signal, onToolsChanged: () => (told.changes += 1) }, leaving);
  return { options, leaving, told, signal };
}

describe("startOptions", () => {
  it("L-16: gives a start all the time it needs, and leaves restarts and the era alone", () => {
    const { options, signal } = start();
    expect(options).toMatchObject({
      ...GIVEN,
      signal,
      lifecycleTimeoutMs: Infinity,
      recheckLegacyAfterMs: Infinity,
      recheckPauseMs: Infinity,
    });
    // How long silence may be tells the eras apart.
    expect(options.modern).toEqual({ restart: "never" });
  });

  it("L-16: waits for a silent server that can only be modern", () => {
    expect(start({ revisions: ["2026-07-28"] }).options.modern?.probeTimeoutMs).toBe(Infinity);
    expect(start({ revisions: ["2026-07-28", "2025-11-25"] }).options.modern?.probeTimeoutMs).toBeUndefined();
  });

  it("takes what it is given before its own", () => {
    const given = { lifecycleTimeoutMs: 1, recheckLegacyAfterMs: 2, recheckPauseMs: 3 };
    const modern = { restart: "on_request", probeTimeoutMs: 4 } as const;
    const { options } = start({ ...given, modern, revisions: ["2026-07-28"] });
    expect(options).toMatchObject({ ...given, modern });
  });

  it("L-16: hears of changed tools and of processes that are left, and hands both on", () => {
    const seen: unknown[] = [];
    const onStartAbandoned = (ended: Promise<void>): unknown => seen.push(ended);
    const onNotification = (notification: unknown): unknown => seen.push(notification);
    const { options, leaving, told } = start({ onNotification, legacy: { onStartAbandoned } });
    const ended = Promise.resolve();
    options.legacy?.onStartAbandoned?.(ended);
    expect(leaving).toEqual([ended]);
    const changed = { method: "notifications/tools/list_changed", params: undefined };
    const other = { method: "notifications/message", params: {} };
    options.onNotification?.(changed);
    options.onNotification?.(other);
    expect(seen).toEqual([ended, changed, other]);
    expect(told.changes).toBe(1);
  });
});
