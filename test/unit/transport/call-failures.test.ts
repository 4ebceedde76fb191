import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { failureOf, internalFault, NOTHING_SENT } from "../../../src/transport/index.js";

const FAULT = new TypeError("a fault");

describe("failureOf", () => {
  it("F-1: leaves an error of this package as it is, its verdict included", () => {
    const error = new RemoteConnectorError("cancelled", {
      message: "m",
      details: { reason: "r" },
      delivery: "unknown",
    });
    expect(failureOf(error, "answered")).toBe(error);
  });

  it("F-1: gives anything else the verdict of whoever caught it", () => {
    expect(failureOf(FAULT)).toMatchObject({ code: "internal_error", delivery: "not_sent", cause: FAULT });
    expect(failureOf(FAULT, "answered")).toMatchObject({ code: "internal_error", delivery: "answered", cause: FAULT });
  });
});

describe("internalFault", () => {
  it.each([
    [false, "not_sent"],
    [true, "unknown"],
  ])("F-1: is no more confident than its evidence: handed over %j, %s", (handedOver, delivery) => {
    const evidence = { ...NOTHING_SENT, handedOver };
    expect(internalFault(FAULT, evidence)).toMatchObject({ delivery, cause: FAULT, details: { evidence } });
  });
});
