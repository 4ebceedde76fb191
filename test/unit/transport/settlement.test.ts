import { describe, expect, it } from "vitest";
import { deliveryOf, RemoteConnectorError } from "../../../src/errors.js";
import { Settlement } from "../../../src/transport/settlement.js";

const error = new RemoteConnectorError("peer_error", {
  message: "",
  delivery: "answered",
  details: { rpcCode: 1, rpcMessage: "", rpcData: undefined },
});

describe("Settlement", () => {
  it("F-2: writes the verdict down for its own promise before it rejects", async () => {
    const settlement = new Settlement<never>();
    const seen = settlement.promise.catch(() => deliveryOf(settlement.promise));
    settlement.abort("enough", "unknown");
    expect(await seen).toBe("unknown");
  });

  it("F-1: an error that was made for the call brings its own verdict", async () => {
    const settlement = new Settlement<never>();
    settlement.fail(error);
    await expect(settlement.promise).rejects.toBe(error);
    expect(deliveryOf(settlement.promise)).toBe("answered");
  });

  it("F-2: an error of ours that is a caller's reason says nothing of the call that it ends", async () => {
    const settlement = new Settlement<never>();
    const reason = new RemoteConnectorError("cancelled", { message: "", details: { reason: "fenced" } });
    settlement.abort(reason, "unknown");
    await expect(settlement.promise).rejects.toBe(reason);
    expect(deliveryOf(settlement.promise)).toBe("unknown");
  });
});
