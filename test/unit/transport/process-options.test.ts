import { describe, expect, it } from "vitest";
import { PROCESS_OPTION_NAMES, resolveProcessOptions } from "../../../src/transport/index.js";

describe("options of a server that is a child process", () => {
  it("F-7, L-13: the defaults", () => {
    expect(resolveProcessOptions({ command: "server" })).toEqual({
      command: "server",
      args: [],
      cwd: undefined,
      env: {},
      inheritEnvironment: false,
      secrets: [],
      stderrTailBytes: 64 * 1024,
      maxLineBytes: 16 * 1024 * 1024,
      maxQueuedMessages: 1_000,
      closeGraceMs: 2_000,
    });
  });

  it("F-6, L-14: configured values are secrets, short words aside", () => {
    const env = { KEY: "abcdef", FLAG: "short", GONE: undefined };
    expect(resolveProcessOptions({ command: "server", env, secrets: ["x"] }).secrets).toEqual(["abcdef", "x"]);
  });

  it.each<[string, unknown]>([
    ["args", "x"],
    ["args", [1]],
    ["closeGraceMs", 0],
    ["command", ""],
    ["command", undefined],
    ["cwd", 1],
    ["env", null],
    ["env", { A: 1 }],
    ["inheritEnvironment", "yes"],
    ["maxLineBytes", 0],
    ["maxQueuedMessages", 1.5],
    ["secrets", [1]],
    ["stderrTailBytes", Infinity],
  ])("refuses %s: %j", (option, value) => {
    expect(PROCESS_OPTION_NAMES).toContain(option);
    const options = Object.assign({ command: "server" }, { [option]: value });
    expect(() => resolveProcessOptions(options)).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
    );
  });
});
