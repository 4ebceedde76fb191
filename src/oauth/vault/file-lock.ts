import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { RemoteConnectorError } from "../../errors.js";
import { isCode, tryLink } from "./private-files.js";
import { type RandomBytes, randomName } from "./random-bytes.js";

/** Who has a lock. */
export interface LockHolder {
  /** A name that is used once. */
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Who judges a holder. */
export interface LockJudge {
  readonly now: number;
  readonly host: string;
  readonly pid: number;
  /** When this process began, in epoch milliseconds. */
  readonly startedAt: number;
  readonly isRunning: (pid: number) => boolean;
}

/** What is done under a lock takes milliseconds: who has one for this long is gone, or stands still. */
export const LOCK_STALE_AFTER_MS = 30_000;

/**
 * Whether the holder of a lock is gone: its process has ended, or has had the lock for too long by a clock that may have been set either
 * way. Processes of other machines are judged by time alone.
 */
export function isGone({ pid, host, since }: LockHolder, judge: LockJudge): boolean {
  if (Math.abs(judge.now - since) >= LOCK_STALE_AFTER_MS) return true;
  if (host !== judge.host) return false;
  // Numbers of processes come again: in a container, at once.
  if (pid === judge.pid) return since < judge.startedAt;
  return !judge.isRunning(pid);
}

/**
 * A lock among processes, as a file that is there while somebody has it.
 *
 * Who is gone is succeeded by one process alone: by the one that has the lock named for that very holder, `lock.<id>`, and finds that the
 * holder's lock is still there. That lock may itself be left behind, and is succeeded in the same way.
 */
export class FileLock {
  readonly #path: string;
  readonly #wallNow: () => number;
  readonly #randomBytes: RandomBytes;
  #id: string | undefined;

  constructor(path: string, wallNow: () => number, randomBytes: RandomBytes) {
    this.#path = path;
    this.#wallNow = wallNow;
    this.#randomBytes = randomBytes;
  }

  /** Does the work alone in all processes. Throws `store_in_use` when somebody else is at work. */
  run<T>(work: () => T): T {
    const id = randomName(this.#randomBytes);
    if (!this.#take(this.#path, id)) throw this.#inUse();
    this.#id = id;
    try {
      return work();
    } finally {
      this.#id = undefined;
      if (readHolder(this.#path)?.id === id) rmSync(this.#path, { force: true });
    }
  }

  /** To be asked right before each change. Throws `store_in_use` when the process stood still for so long that it was succeeded. */
  assertHeld(): void {
    if (this.#id === undefined || readHolder(this.#path)?.id !== this.#id) throw this.#inUse();
  }

  #take(path: string, id: string): boolean {
    const temporary = `${this.#path}.${randomName(this.#randomBytes)}.tmp`;
    const now = this.#wallNow();
    const holder: LockHolder = { id, pid: process.pid, host: hostname(), since: now };
    try {
      writeFileSync(temporary, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
      if (tryLink(temporary, path)) return true;
      const found = readHolder(path);
      const startedAt = now - process.uptime() * 1_000;
      const judge: LockJudge = { now, host: holder.host, pid: holder.pid, startedAt, isRunning };
      if (found === undefined || !isGone(found, judge)) return false;
      const succession = `${path}.${found.id}`;
      if (!this.#take(succession, id)) return false;
      try {
        // Somebody else may have succeeded it before.
        if (readHolder(path)?.id !== found.id) return false;
        renameSync(temporary, path);
        return true;
      } finally {
        rmSync(succession, { force: true });
      }
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #inUse(): RemoteConnectorError<"store_in_use"> {
    return new RemoteConnectorError("store_in_use", {
      message: "Another process holds the store.",
      details: { path: this.#path },
    });
  }
}

/** `undefined`: nobody has the lock. What a loss of power left of one has no owner, and its file's time. */
function readHolder(path: string): LockHolder | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return parseHolder(text) ?? { id: "unreadable", pid: 0, host: "", since: statSync(path).mtimeMs };
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** `undefined` for what is no holder. */
export function parseHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const [id, pid, host, since]: unknown[] = ["id", "pid", "host", "since"].map((name) => Reflect.get(value, name));
  const isWhole = typeof id === "string" && /^[0-9a-f]{24}$/.test(id) && typeof host === "string";
  if (!isWhole || typeof since !== "number" || typeof pid !== "number") return undefined;
  return Number.isSafeInteger(pid) && pid > 0 ? { id, pid, host, since } : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and belongs to somebody else.
    return !isCode(error, "ESRCH");
  }
}
