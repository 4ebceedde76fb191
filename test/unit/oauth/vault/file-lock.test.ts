import { describe, expect, it } from "vitest";
import {
  isGone,
  LOCK_STALE_AFTER_MS,
  type LockHolder,
  type LockJudge,
  parseHolder,
} from "../../../../src/oauth/vault/file-lock.js";

const NOW = 1_700_000_000_000;
const ID = "0123456789abcdef01234567";
const HOLDER: LockHolder = { id: ID, pid: 10, host: "here", since: NOW };
const JUDGE: LockJudge = { now: NOW, host: "here", pid: 20, startedAt: NOW - 5_000, isRunning: (pid) => pid === 10 };

describe("the holder of a lock", () => {
  it.each<[string, Partial<LockHolder>, boolean]>([
    ["is there while its process runs", {}, false],
    ["is gone when its process has ended", { pid: 11 }, true],
    ["is there for almost 30 s", { since: NOW - LOCK_STALE_AFTER_MS + 1 }, false],
    ["is gone after 30 s, running or not", { since: NOW - LOCK_STALE_AFTER_MS }, true],
    ["is gone when the clock was set back by as much", { since: NOW + LOCK_STALE_AFTER_MS }, true],
    ["on another machine is judged by time alone", { host: "there", pid: 11 }, false],
    ["on another machine is gone after 30 s", { host: "there", since: NOW - LOCK_STALE_AFTER_MS }, true],
    ["of this process may be another thread of it", { pid: 20 }, false],
    ["of this process's number from before its start is gone", { pid: 20, since: NOW - 5_001 }, true],
  ])("%s", (_, change, gone) => expect(isGone({ ...HOLDER, ...change }, JUDGE)).toBe(gone));

  it("is read as it was written", () => expect(parseHolder(JSON.stringify(HOLDER))).toEqual(HOLDER));

  it.each([
    "",
    "null",
    "[]",
    JSON.stringify({ ...HOLDER, id: "../../x" }),
    JSON.stringify({ ...HOLDER, pid: 0 }),
    JSON.stringify({ ...HOLDER, pid: "10" }),
    JSON.stringify({ ...HOLDER, since: null }),
    JSON.stringify({ ...HOLDER, host: undefined }),
  ])("is nobody in %s", (text) => expect(parseHolder(text)).toBeUndefined());
});
