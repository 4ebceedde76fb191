import { describe, expect, it } from "vitest";
import { readSnapshotAnswer } from "../../../src/auth-projection/snapshot-answer.js";
import type { HttpAnswer } from "../../../src/transport/index.js";
import { bytes } from "./bodies.js";

function answer(status: number, body: unknown = {}, headers: HttpAnswer["headers"] = {}): HttpAnswer {
  return { status, mediaType: "application/json", headers, body: bytes(body) };
}

describe("P-1: answers of the control plane", () => {
  it("P-1: 200 holds a snapshot", () => {
    expect(readSnapshotAnswer(answer(200, { revision: "12", connectors: [] }))).toMatchObject({ revision: 12n });
  });

  it.each([401, 403])("P-1: %i is told apart from other failures", (status) => {
    expect(() => readSnapshotAnswer(answer(status))).toThrow(
      expect.objectContaining({ code: "account_not_ready", delivery: "answered", details: { status } }),
    );
  });

  it.each([
    [201, "unknown"],
    [204, "unknown"],
    [400, "answered"],
    [404, "answered"],
    [408, "unknown"],
    [428, "answered"],
    [429, "answered"],
    [500, "unknown"],
    [503, "unknown"],
  ])("P-1: %i is no snapshot, whatever its body (%s)", (status, delivery) => {
    const body = { revision: 1, connectors: [] };
    expect(() => readSnapshotAnswer(answer(status, body, { "retry-after": "7" }))).toThrow(
      expect.objectContaining({
        code: "unexpected_answer",
        delivery,
        details: expect.objectContaining({ status, retryAfter: "7" }),
      }),
    );
  });

  it.each([
    ["https://other.example/path?token=s3cr3t#x", "https://other.example/path"],
    ["/elsewhere?token=s3cr3t", "/elsewhere"],
    ["//user:s3cr3t@other.example/", "http://other.example/"],
    ["http://[", ""],
    [undefined, "/"],
  ])("P-1, F-6: a redirect to %s is refused, and shows nothing secret", (location, shown) => {
    for (const status of [301, 302, 303, 307, 308]) {
      expect(() => readSnapshotAnswer(answer(status, {}, { location }))).toThrow(
        expect.objectContaining({
          code: "redirect_refused",
          delivery: "answered",
          details: expect.objectContaining({ status, location: shown }),
        }),
      );
    }
  });
});
