import { describe, expect, it } from "vitest";
import { observeDemand } from "../../../../src/connector-host/host/observe-demand.js";
import { parseRelease } from "../../../../src/connector-host/release/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { releaseOf } from "../../../support/releases.js";

const used = { connectorKey: "a", connectionId: "c-a", connectionVersion: 4n };
const release = parseRelease(releaseOf("a"));

function peerError(rpcCode: number, httpStatus?: number): RemoteConnectorError<"peer_error"> {
  return new RemoteConnectorError("peer_error", {
    message: "no",
    delivery: "answered",
    details: { rpcCode, rpcMessage: "no", rpcData: undefined, httpStatus },
  });
}

function required(delivery: "not_sent" | "answered", reauthorize: boolean): RemoteConnectorError {
  const details = { connectorKey: "a", reauthorize };
  return new RemoteConnectorError("authorization_required", { message: "no", delivery, details });
}

const bare428 = new RemoteConnectorError("unexpected_answer", {
  message: "no",
  delivery: "answered",
  details: { status: 428, mediaType: "", snippet: "", reason: "no body" },
});

describe("P-6: what a failure says of the account's connection", () => {
  it.each([
    ["-33001", peerError(-33_001), "disconnected"],
    ["-33002", peerError(-33_002, 428), "expired"],
    ["428 with any other code", peerError(-32_000, 428), "disconnected"],
    ["a bare 428", bare428, "disconnected"],
    ["what an activation made of it", required("answered", true), "expired"],
    ["a reading of our own rows", required("not_sent", true), undefined],
    ["-33003", peerError(-33_003, 503), undefined],
    ["-33005", peerError(-33_005, 429), undefined],
    ["anything else", new Error("no"), undefined],
  ])("P-6: %s", (_what, error, state) => {
    expect(observeDemand(used, release, error)).toEqual(state === undefined ? undefined : { ...used, state });
  });

  it("P-6: a connector that needs no authorization has none to lose", () => {
    const open = parseRelease(releaseOf("a", { authorization: { kind: "none" } }));
    expect(observeDemand(used, open, peerError(-33_001))).toBeUndefined();
  });
});
