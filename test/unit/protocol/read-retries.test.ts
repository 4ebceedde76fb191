import { describe, expect, it } from "vitest";
import { type RemoteConnectorError, RemoteConnectorError as Fault } from "../../../src/errors.js";
import { readRetryDelayMs } from "../../../src/protocol/read-retries.js";

const config = { maxReadRetries: 2, random: () => 0.5, wallNow: () => Date.UTC(2026, 0, 1) };
const ended = new Fault("stream_ended", { message: "", delivery: "unknown", details: { reason: "" } });
const delay = (error: RemoteConnectorError, retries = 0, method = "tools/list") =>
  readRetryDelayMs(method, error, retries, config);
const answer = (status: number, retryAfter?: string) =>
  new Fault("unexpected_answer", {
    message: "",
    details: { status, mediaType: "", snippet: "", reason: "", retryAfter },
  });

describe("readRetryDelayMs", () => {
  it("F-11: pauses double, with full jitter, and end", () => {
    expect([0, 1, 2].map((retries) => delay(ended, retries))).toEqual([50, 100, undefined]);
    expect(readRetryDelayMs("tools/list", ended, 9, { ...config, maxReadRetries: 99 })).toBe(1_000);
  });

  it.each([["tools/call"], ["tasks/cancel"], ["a/b"]])("F-11: %s is never made again", (method) => {
    expect(delay(ended, 0, method)).toBeUndefined();
  });

  it.each([[429], [502], [503], [504]])("F-11: %i is, when the server wishes", (status) => {
    expect(delay(answer(status))).toBe(50);
    expect(delay(answer(status, "2"))).toBe(2_000);
    expect(delay(answer(status, "Thu, 01 Jan 2026 00:00:05 GMT"))).toBe(5_000);
  });

  it.each([[400], [401], [404], [500], [501]])("F-11: %i is not", (status) => {
    expect(delay(answer(status, "2"))).toBeUndefined();
  });

  it("F-11: a deadline that passed is the end", () => {
    const details = { phase: "idle", option: "idleTimeoutMs", limitMs: 1 } as const;
    expect(delay(new Fault("timeout", { message: "", delivery: "unknown", details }))).toBeUndefined();
  });
});
