import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { gatewayRefusalOf, peerError } from "../../../src/protocol/index.js";

const answer = (status: number) =>
  new RemoteConnectorError("unexpected_answer", {
    message: "",
    details: { status, mediaType: "", snippet: "", reason: "" },
  });

describe("gatewayRefusalOf", () => {
  it.each([
    [-33001, "authorization_required"],
    [-33002, "reauth_required"],
    [-33003, "connector_unavailable"],
    [-33004, "upstream_timeout"],
    [-33005, "upstream_rate_limited"],
    [-33006, "upstream_protocol_error"],
    [-33000, undefined],
    [-32601, undefined],
  ])("F-3: %i is %s", (code, refusal) => {
    expect(gatewayRefusalOf(peerError({ code, message: "", data: undefined }))).toBe(refusal);
  });

  it("F-3: a bare 428 asks for authorization, other values for nothing", () => {
    expect(gatewayRefusalOf(answer(428))).toBe("authorization_required");
    expect([answer(401), new Error("x"), undefined, 0].map(gatewayRefusalOf)).toEqual(Array(4).fill(undefined));
  });
});
