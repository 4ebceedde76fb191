import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { resolveListenOptions } from "../../../src/serving/listen-options.js";

function optionRefused(options: object): unknown {
  try {
    resolveListenOptions(options);
  } catch (error) {
    if (isRemoteConnectorError(error, "invalid_options")) return error.details;
    throw error;
  }
  return undefined;
}

describe("resolveListenOptions", () => {
  it("H-20: listens on loopback, with five seconds for a head, when nothing is said", () => {
    expect(resolveListenOptions({})).toMatchObject({ host: "127.0.0.1", port: 0, headersTimeoutMs: 5_000 });
  });

  it("H-20: never gives the whole request less time than its head", () => {
    expect(resolveListenOptions({ headersTimeoutMs: 9_000, requestTimeoutMs: 1 }).requestTimeoutMs).toBe(9_000);
  });

  it.each([
    [{ headerTimeoutMs: 1 }, { option: "headerTimeoutMs", reason: "unknown", suggestion: "headersTimeoutMs" }],
    [{ port: -1 }, { option: "port" }],
    [{ port: 65_536 }, { option: "port" }],
    [{ port: 1.5 }, { option: "port" }],
    [{ socketPath: "" }, { option: "socketPath" }],
    [{ socketPath: "/x", port: 0 }, { option: "socketPath" }],
    [{ socketPath: "/x", host: "127.0.0.1" }, { option: "socketPath" }],
    [{ headersTimeoutMs: 0 }, { option: "headersTimeoutMs" }],
    [{ closeTimeoutMs: Number.NaN }, { option: "closeTimeoutMs" }],
  ])("H-20: refuses %j by name", (options, details) => {
    expect(optionRefused(options)).toMatchObject(details);
  });
});
