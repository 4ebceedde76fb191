import { describe, expect, it } from "vitest";
import type * as errors from "../../src/errors.js";
import { deliveryOf, isRemoteConnectorError, recordDelivery, RemoteConnectorError } from "../../src/errors.js";

describe("RemoteConnectorError", () => {
  it("F-1: carries a delivery, not_sent when the failure came before any request", () => {
    const error = new RemoteConnectorError("invalid_argument", {
      message: "name is missing",
      details: { argument: "name", reason: "missing" },
    });
    expect(error.delivery).toBe("not_sent");
    expect(deliveryOf(error)).toBe("not_sent");
  });

  it("F-5: is told apart by code across copies of the package", async () => {
    const copyUrl = new URL("../../src/errors.ts?copy", import.meta.url).href;
    const copy: typeof errors = await import(/* @vite-ignore */ copyUrl);
    const foreign = new copy.RemoteConnectorError("cancelled", { message: "closed", details: { reason: "closed" } });
    expect(foreign instanceof RemoteConnectorError).toBe(false);
    expect(isRemoteConnectorError(foreign)).toBe(true);
    expect(isRemoteConnectorError(foreign, "cancelled")).toBe(true);
    expect(isRemoteConnectorError(foreign, "timeout")).toBe(false);
    expect(isRemoteConnectorError(new Error("cancelled"))).toBe(false);
    expect(isRemoteConnectorError({ code: "cancelled" })).toBe(false);
  });

  it("F-6: its plain form leaves the cause out", () => {
    const error = new RemoteConnectorError("connect_failed", {
      message: "no connection",
      details: { origin: "https://example.test", reason: "ECONNREFUSED" },
      cause: new Error("secret"),
    });
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: "connect_failed", delivery: "not_sent" });
  });
});

describe("deliveryOf", () => {
  it("F-2: is exact for the promise, most cautious for a shared reason", () => {
    const reason = new Error("enough");
    const early = Promise.resolve();
    const late = Promise.resolve();
    recordDelivery(early, reason, "not_sent");
    recordDelivery(late, reason, "unknown");
    expect(deliveryOf(early)).toBe("not_sent");
    expect(deliveryOf(late)).toBe("unknown");
    expect(deliveryOf(reason)).toBe("unknown");
    recordDelivery(Promise.resolve(), reason, "answered");
    expect(deliveryOf(reason)).toBe("unknown");
  });

  it("F-2: knows primitive reasons, and forgets the oldest of them", () => {
    for (const reason of ["stop", 0, ""]) {
      recordDelivery(Promise.resolve(), reason, "unknown");
      expect(deliveryOf(reason)).toBe("unknown");
    }
    for (let i = 1; i <= 100; i += 1) recordDelivery(Promise.resolve(), `reason ${String(i)}`, "not_sent");
    expect(deliveryOf("reason 100")).toBe("not_sent");
    expect(deliveryOf("stop")).toBeUndefined();
  });

  it("F-2: an error of ours that is the reason of an abort has the verdict of the calls that it ended", () => {
    const reason = new RemoteConnectorError("cancelled", { message: "withdrawn", details: { reason: "withdrawn" } });
    expect(deliveryOf(reason)).toBe("not_sent");
    recordDelivery(Promise.resolve(), reason, "unknown");
    expect(deliveryOf(reason)).toBe("unknown");
  });

  it("F-2: knows nothing of a value that it never saw", () => {
    expect(deliveryOf(new Error("other"))).toBeUndefined();
    expect(deliveryOf(Promise.resolve())).toBeUndefined();
  });
});
