import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { classifyMatched } from "../../../../src/modern-client/classify-answer.js";
import { failedProbe, judgeServer, readProbe } from "../../../../src/modern-client/stdio/probe-verdict.js";
import type { Answer } from "../../../../src/protocol/index.js";

const judge = (answer: Answer): string =>
  judgeServer(readProbe(classifyMatched(answer, "server/discover", false)), "")?.code ?? "modern";
const refusal = (code: number, data?: unknown): Answer => ({ kind: "error", error: { code, message: "", data } });
const result = (members: object): Answer => ({ kind: "result", result: { ...members } });

describe("L-21: what an answer to the probe says", () => {
  it.each<[string, Answer, string]>([
    ["our version", result({ supportedVersions: ["2099-01-01", "2026-07-28"] }), "modern"],
    ["a header mismatch", refusal(-32020), "modern"],
    ["a missing capability", refusal(-32021), "modern"],
    ["a refused version that is named all the same", refusal(-32022, { supported: ["2026-07-28"] }), "modern"],
    ["a refused version without a list", refusal(-32022), "modern"],
    [
      "a refused version of which another is named",
      refusal(-32022, { supported: ["2099-01-01"] }),
      "unsupported_version",
    ],
    ["older versions", result({ supportedVersions: ["2025-11-25"] }), "unsupported_version"],
    ["no versions", result({}), "unsupported_version"],
    ["an initialize result", result({ protocolVersion: "2025-11-25" }), "unsupported_version"],
    ["an unknown method", refusal(-32601), "unsupported_version"],
    ["invalid params", refusal(-32602), "unsupported_version"],
    ["code 0", refusal(0), "unsupported_version"],
    ["no response", { kind: "invalid", reason: "neither" }, "unsupported_version"],
  ])("%s", (_name, answer, code) => expect(judge(answer)).toBe(code));

  it("silence is a server of old, with its stderr; an exit is an exit", () => {
    const details = { phase: "total", option: "totalTimeoutMs", limitMs: 7 } as const;
    const silence = failedProbe(new RemoteConnectorError("timeout", { message: "", details }));
    expect(judgeServer(silence, "tail")).toMatchObject({
      code: "unsupported_version",
      delivery: "not_sent",
      message: expect.stringContaining("7 ms (probeTimeoutMs)"),
      cause: { code: "process_exited", details: { stderrTail: "tail" } },
    });
    const exit = { exitCode: 1, signal: undefined, stderrTail: "x" };
    const gone = failedProbe(new RemoteConnectorError("process_exited", { message: "", details: exit }));
    expect(judgeServer(gone, "")).toMatchObject({ code: "process_exited" });
  });

  it("what says nothing of the era is itself the failure", () => {
    const details = { option: "maxLineBytes", limit: 1 };
    const limit = failedProbe(new RemoteConnectorError("limit_exceeded", { message: "", details }));
    expect(judgeServer(limit, "")).toMatchObject({ code: "limit_exceeded" });
    expect(judgeServer(failedProbe("whatever"), "")).toMatchObject({ code: "unsupported_version" });
  });
});
