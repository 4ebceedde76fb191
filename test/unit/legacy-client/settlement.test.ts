import { describe, expect, it } from "vitest";
import { deliveryOf, RemoteConnectorError } from "../../../src/errors.js";
import { Settlement } from "../../../src/legacy-client/settlement.js";

describe("Settlement", () => {
  it("F-2: writes the verdict down for its own promise before it rejects", async () => {
    const settlement = new Settlement<never>();
    const reason = "enough";
    const seen = settlement.promise.catch(() => deliveryOf(settlement.promise));
    settlement.reject(reason, "unknown");
    expect(await seen).toBe("unknown");
  });

  it("F-1: an error of the package brings its own verdict", async () => {
    const settlement = new Settlement<never>();
    const details = { rpcCode: 1, rpcMessage: "", rpcData: undefined };
    settlement.reject(
      new RemoteConnectorError("peer_error", { message: "", delivery: "answered", details }),
      "unknown",
    );
    await expect(settlement.promise).rejects.toMatchObject({ code: "peer_error" });
    expect(deliveryOf(settlement.promise)).toBe("answered");
  });
});
