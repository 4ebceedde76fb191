import { describe, expect, it } from "vitest";
import { ModernClient, ModernStdioClient } from "../../../../src/modern-client/index.js";
import { resolveModernStdioOptions } from "../../../../src/modern-client/stdio/stdio-options.js";

const given = { command: "server", clientInfo: false } as const;

describe("options of the modern client over stdio", () => {
  it("F-7, F-10, L-13, L-14: the defaults", () => {
    const { client, channel } = resolveModernStdioOptions(given);
    expect(channel).toMatchObject({
      command: {
        args: [],
        env: {},
        inheritEnvironment: false,
        secrets: [],
        maxLineBytes: 16 * 1024 * 1024,
        maxQueuedMessages: 1_000,
        stderrTailBytes: 64 * 1024,
        closeGraceMs: 2_000,
      },
      restart: { restart: "on_request", firstRestartDelayMs: 500, longestRestartDelayMs: 10_000 },
      maxConcurrentRequests: 64,
      maxQueuedRequests: 1_000,
      probeTimeoutMs: 5_000,
    });
    expect(client).toMatchObject({
      deadlines: { connectTimeoutMs: 30_000, idleTimeoutMs: 60_000, totalTimeoutMs: 3_600_000 },
      honoursHeaders: false,
      unknownTools: "call",
      cache: undefined,
      input: { origin: "stdio:server" },
    });
  });

  it("L-14: values of the environment that may be secrets are kept out of errors", () => {
    const { channel } = resolveModernStdioOptions({ ...given, env: { A: "1", B: "a-token" }, secrets: ["other"] });
    expect(channel.command.secrets).toEqual(["a-token", "other"]);
  });

  it("W-31: there is one authorization context", () => {
    const { client } = resolveModernStdioOptions({ ...given, cache: { context: () => "x", maxEntries: 3 } });
    expect(client.cache).toMatchObject({ maxEntries: 3 });
    expect(client.cache?.context?.()).toBe("");
  });

  it.each([
    [{ command: "" }, "command"],
    [{ command: 1 }, "command"],
    [{ args: "x" }, "args"],
    [{ args: [1] }, "args"],
    [{ secrets: [1] }, "secrets"],
    [{ cwd: 1 }, "cwd"],
    [{ env: null }, "env"],
    [{ env: { A: 1 } }, "env"],
    [{ inheritEnvironment: "yes" }, "inheritEnvironment"],
    [{ probe: "no" }, "probe"],
    [{ probeTimeoutMs: 0 }, "probeTimeoutMs"],
    [{ restart: "always" }, "restart"],
    [{ firstRestartDelayMs: Infinity }, "firstRestartDelayMs"],
    [{ firstRestartDelayMs: 2, longestRestartDelayMs: 1 }, "longestRestartDelayMs"],
    [{ stderrTailBytes: Infinity }, "stderrTailBytes"],
    [{ maxConcurrentRequests: 0 }, "maxConcurrentRequests"],
    [{ random: 0.5 }, "random"],
    [{ endpoint: "https://example.test" }, "endpoint"],
    [{ headers: {} }, "headers"],
  ])("%j is refused by name", (options, option) => {
    expect(() => new ModernStdioClient({ ...given, ...(options as object) })).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) }),
    );
  });

  it("is a modern client as the other one is", () => {
    expect(new ModernStdioClient(given)).toBeInstanceOf(ModernClient);
  });
});
