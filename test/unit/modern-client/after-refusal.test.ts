import { describe, expect, it } from "vitest";
import { afterRefusal } from "../../../src/modern-client/after-refusal.js";
import { peerError } from "../../../src/protocol/index.js";

const refusal = (code: number, data?: unknown) => peerError({ code, message: "no", data });
const fresh = { canCorrect: true, canRepeat: true };

describe("afterRefusal", () => {
  it.each([
    [-32020, undefined, fresh, "correct_headers"],
    [-32020, undefined, { ...fresh, canCorrect: false }, "fail"],
    [-32022, { supported: ["2026-07-28"] }, fresh, "repeat"],
    [-32022, { supported: ["2025-11-25", "2026-07-28"] }, fresh, "repeat"],
    [-32022, { supported: ["2026-07-28"] }, { ...fresh, canRepeat: false }, "fail"],
    [-32022, { supported: ["2025-11-25"] }, fresh, "fail_with"],
    [-32022, { supported: [] }, fresh, "fail_with"],
    [-32022, { supported: [1] }, fresh, "fail"],
    [-32022, { supported: "2026-07-28" }, fresh, "fail"],
    [-32022, undefined, fresh, "fail"],
    [-32021, { supported: ["2026-07-28"] }, fresh, "fail"],
  ])("W-24, W-28: after %i with %j and %j: %s", (code, data, call, kind) => {
    expect(afterRefusal(refusal(code, data), call).kind).toBe(kind);
  });

  it("W-28: no version in common is unsupported_version with both lists", () => {
    const next = afterRefusal(refusal(-32022, { supported: ["2025-11-25"] }), fresh);
    expect(next).toMatchObject({
      error: {
        code: "unsupported_version",
        delivery: "answered",
        details: { supported: ["2025-11-25"], ours: ["2026-07-28"] },
      },
    });
  });
});
