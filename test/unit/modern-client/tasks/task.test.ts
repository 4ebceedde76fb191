import { describe, expect, it } from "vitest";
import { hasExpired, pollDelayMs } from "../../../../src/modern-client/tasks/poll-pace.js";
import { classifyTask, parseTask, unseenRequests } from "../../../../src/modern-client/tasks/task.js";

const TASK = {
  taskId: "t",
  status: "working",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:01Z",
  ttlMs: 60_000,
} as const;
const CREATED = Date.parse(TASK.createdAt);

describe("parseTask", () => {
  it("W-42: takes the flat members, and no more", () => {
    const full = { ...TASK, taskId: "", statusMessage: "soon", ttlMs: null, pollIntervalMs: 0 };
    expect(parseTask({ ...full, resultType: "task", result: {}, extra: 1 })).toEqual(full);
    expect(parseTask({ ...TASK, statusMessage: 1 }, "t")).toEqual(TASK);
  });

  it.each([
    ["taskId", 1],
    ["taskId", "other"],
    ["status", "paused"],
    ["status", undefined],
    ["createdAt", undefined],
    ["lastUpdatedAt", 5],
    ["ttlMs", undefined],
    ["ttlMs", -1],
    ["pollIntervalMs", "5"],
    ["pollIntervalMs", -1],
  ])("W-42: %s of %j is an invalid answer", (member, value) => {
    expect(() => parseTask({ ...TASK, [member]: value }, "t")).toThrow(
      expect.objectContaining({ code: "invalid_answer", delivery: "unknown" }),
    );
  });
});

describe("classifyTask", () => {
  const verdict = (status: string, members: object = {}) => {
    const state = { ...TASK, status, ...members };
    return classifyTask(parseTask(state), state);
  };

  it("W-43: each status with what it must bring", () => {
    expect(verdict("working", { result: {} })).toEqual({ kind: "pending" });
    expect(verdict("input_required", { inputRequests: { a: {} } })).toEqual({ kind: "asks", inputRequests: { a: {} } });
    expect(verdict("completed", { result: { isError: true } })).toEqual({
      kind: "completed",
      result: { isError: true },
    });
    expect(verdict("failed", { error: { code: 0, message: "", data: 1 } })).toMatchObject({
      error: { code: "peer_error", delivery: "answered", details: { rpcCode: 0, rpcMessage: "", rpcData: 1 } },
    });
    expect(verdict("cancelled", { statusMessage: "by\u0007 me" })).toMatchObject({
      error: { code: "task_cancelled", delivery: "answered", details: { taskId: "t" } },
    });
  });

  it.each([["input_required"], ["completed"], ["failed"]])("W-43: %s without it is an invalid answer", (status) => {
    expect(verdict(status)).toMatchObject({ kind: "failed", error: { code: "invalid_answer" } });
    expect(verdict(status, { result: 1, error: { code: "1" }, inputRequests: [] })).toMatchObject({ kind: "failed" });
  });
});

it("W-44: only requests of keys that were not presented are left", () => {
  const requests = { a: { method: "roots/list" }, "": { method: "roots/list" } };
  expect(unseenRequests(requests, new Set())).toEqual(requests);
  expect(unseenRequests(requests, new Set(["a"]))).toEqual({ "": { method: "roots/list" } });
  expect(unseenRequests(requests, new Set(["a", ""]))).toEqual({});
});

describe("the pace", () => {
  it.each([
    [undefined, 1_000, 1_100],
    [200, 200, 220],
    [0, 50, 55],
  ])("W-43: an interval of %s is never shortened, jitter is added", (interval, least, most) => {
    expect(pollDelayMs(interval, () => 0)).toBe(least);
    const longest = pollDelayMs(interval, () => 0.999_999);
    expect(longest).toBeGreaterThanOrEqual(least);
    expect(longest).toBeLessThanOrEqual(most);
  });

  it("W-43: the time to live counts from createdAt, or from when it was seen created if that is later", () => {
    expect(hasExpired(TASK, undefined, CREATED + 59_999)).toBe(false);
    expect(hasExpired(TASK, undefined, CREATED + 60_000)).toBe(true);
    expect(hasExpired(TASK, CREATED + 10_000, CREATED + 60_000)).toBe(false);
    expect(hasExpired(TASK, CREATED - 10_000, CREATED + 60_000)).toBe(true);
    expect(hasExpired({ ...TASK, ttlMs: null }, undefined, Infinity)).toBe(false);
    expect(hasExpired({ ...TASK, createdAt: "?" }, undefined, Infinity)).toBe(false);
    expect(hasExpired({ ...TASK, createdAt: "?", ttlMs: 0 }, 5, 5)).toBe(true);
  });
});
