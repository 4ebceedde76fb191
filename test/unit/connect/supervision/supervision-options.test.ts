import { describe, expect, it } from "vitest";
import { superviseServer, type SuperviseOptions } from "../../../../src/connect/index.js";
import { resolveSupervisionOptions } from "../../../../src/connect/supervision/supervision-options.js";

const COMMAND = { command: "server", clientInfo: { name: "test", version: "1" } };
const OPEN = { open: () => Promise.reject(new Error("not opened here")) };

function refused(options: object, option: string) {
  return [options, option] as const;
}

describe("resolveSupervisionOptions", () => {
  it("L-16: has restarts on, and defaults for all else", () => {
    expect(resolveSupervisionOptions(COMMAND)).toMatchObject({
      enabled: true,
      restart: true,
      firstRestartDelayMs: 500,
      longestRestartDelayMs: 30_000,
      maxRestarts: 5,
      restartWindowMs: 300_000,
      probeIntervalMs: 600_000,
      listIntervalMs: 1_000,
      listTimeoutMs: 120_000,
      connectTimeoutMs: 30_000,
      totalTimeoutMs: 3_600_000,
      maxWaitingCalls: 1_000,
      notReadyText: "The server is not ready yet.",
    });
  });

  it("takes a function in place of a command", () => {
    expect(resolveSupervisionOptions(OPEN).open).toBe(OPEN.open);
  });

  it("never has a longest pause that is shorter than the first", () => {
    expect(resolveSupervisionOptions({ ...OPEN, firstRestartDelayMs: 60_000 }).longestRestartDelayMs).toBe(60_000);
  });

  it.each([
    refused({}, "command"),
    refused({ ...COMMAND, endpoint: "https://example.com" }, "command"),
    refused({ ...COMMAND, signal: new AbortController().signal }, "signal"),
    refused({ ...COMMAND, command: "" }, "command"),
    refused({ ...COMMAND, args: [1] }, "args"),
    refused({ ...COMMAND, revisions: ["1999-01-01"] }, "revisions"),
    refused({ ...COMMAND, maxRestart: 1 }, "maxRestart"),
    refused({ open: 1 }, "open"),
    refused({ ...OPEN, command: "server" }, "command"),
    refused({ ...OPEN, enabled: 1 }, "enabled"),
    refused({ ...OPEN, restart: "never" }, "restart"),
    refused({ ...OPEN, notReadyText: () => "soon" }, "notReadyText"),
    refused({ ...OPEN, firstRestartDelayMs: 0 }, "firstRestartDelayMs"),
    refused({ ...OPEN, longestRestartDelayMs: Infinity }, "longestRestartDelayMs"),
    refused({ ...OPEN, longestRestartDelayMs: 499 }, "longestRestartDelayMs"),
    refused({ ...OPEN, maxRestarts: -1 }, "maxRestarts"),
    refused({ ...OPEN, listIntervalMs: Infinity }, "listIntervalMs"),
    refused({ ...OPEN, onState: "state" }, "onState"),
    refused({ ...OPEN, onTools: {} }, "onTools"),
  ])("refuses %j by the name %s, before anything is started", (options, option) => {
    const make = (): unknown => Reflect.apply(superviseServer, undefined, [options]);
    expect(make).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
    );
  });

  it("names the option that was probably meant", () => {
    const options: SuperviseOptions = Object.assign({}, OPEN, { maxRestart: 1 });
    expect(() => resolveSupervisionOptions(options)).toThrow("Did you mean maxRestarts?");
  });
});
