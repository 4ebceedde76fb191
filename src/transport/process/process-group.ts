import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../clock.js";
import { readProcessStat } from "./process-stat.js";

/** A child process together with everything that it started. */
export interface ProcessGroup {
  /** Whether any process of it still runs. */
  isAlive(): boolean;
  /** Asks all of it to end. Where there is no way to ask, as on Windows, it is ended. Never throws. */
  terminate(): void;
  /** Ends all of it. Never throws. */
  kill(): void;
}

/** The group that the process `leaderPid`, started as its leader, heads. */
export function processGroup(leaderPid: number, platform: NodeJS.Platform): ProcessGroup {
  return platform === "win32" ? windowsTree(leaderPid) : posixGroup(leaderPid, platform);
}

function posixGroup(leaderPid: number, platform: NodeJS.Platform): ProcessGroup {
  const signal = (name: NodeJS.Signals | 0): boolean => {
    try {
      process.kill(-leaderPid, name);
      return true;
    } catch (error) {
      // EPERM: it is there, and no longer ours to signal.
      return error instanceof Error && Reflect.get(error, "code") === "EPERM";
    }
  };
  return {
    isAlive: () => signal(0) && (platform !== "linux" || hasRunningMember(leaderPid)),
    terminate: () => void signal("SIGTERM"),
    kill: () => void signal("SIGKILL"),
  };
}

/**
 * Orphans that have ended wait for the system's first process to collect them, which in containers can take seconds, and
 * are found by their group until then. Nothing of them runs any more, so nobody should wait for them.
 */
function hasRunningMember(group: number): boolean {
  try {
    return readdirSync("/proc").some((name) => /^\d+$/.test(name) && isRunningIn(group, name));
  } catch {
    return true;
  }
}

function isRunningIn(group: number, pid: string): boolean {
  try {
    const stat = readProcessStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
    return stat !== undefined && stat.group === group && !stat.hasEnded;
  } catch {
    // It ended since the folder was read.
    return false;
  }
}

/** Windows knows no groups: the tree is followed from its root, so that it can be ended only while the root lives. */
function windowsTree(rootPid: number): ProcessGroup {
  const end = (): void => {
    const taskkill = spawn("taskkill", taskkillArguments(rootPid), { stdio: "ignore", windowsHide: true });
    // It fails when the root is gone already, which is what was wanted.
    taskkill.on("error", () => undefined);
    taskkill.unref();
  };
  const isAlive = (): boolean => {
    try {
      return process.kill(rootPid, 0);
    } catch {
      return false;
    }
  };
  return { isAlive, terminate: end, kill: end };
}

/** How `taskkill` is told to end a process and all its descendants. */
export function taskkillArguments(rootPid: number): readonly string[] {
  return ["/pid", String(rootPid), "/T", "/F"];
}

/** The first pause between two looks at whether a group is gone; each further one is twice as long. */
const FIRST_LOOK_MS = 10;
/** How long an ended group may take to be gone. Only what hangs in the kernel takes longer. */
const KILL_GRACE_MS = 500;

/**
 * Ends what is left of a group: asks it, and ends it after `graceMs`. Resolves when nothing of it runs, or when nothing more
 * can be done. Never rejects.
 */
export async function endGroup(group: ProcessGroup, graceMs: number, clock: Clock): Promise<void> {
  if (!group.isAlive()) return;
  group.terminate();
  if (await isGone(group, graceMs, clock)) return;
  group.kill();
  await isGone(group, KILL_GRACE_MS, clock);
}

async function isGone(group: ProcessGroup, limitMs: number, clock: Clock): Promise<boolean> {
  const until = clock.now() + limitMs;
  for (let pauseMs = FIRST_LOOK_MS; group.isAlive(); pauseMs *= 2) {
    const left = until - clock.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => void clock.schedule(Math.min(pauseMs, left), resolve));
  }
  return true;
}
