import {
  constants,
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type AnyRemoteConnectorError, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";

/**
 * Files that their owner alone can read, and that are there as a whole or not at all. Synchronous: what is done under a lock is as short
 * as it can be, and nothing of this process comes between.
 */

/** Modes mean nothing on Windows: there a file is as private as the directory that it is in. */
const HAS_MODES = process.platform !== "win32";
const OTHERS = 0o077;

/** Makes a directory for its owner only, and its parents likewise. Throws `store_unavailable` for one that others may enter, or a link. */
export function makePrivateDirectory(directory: string): void {
  makeDirectory(directory);
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) throw unusable(directory, stats.isSymbolicLink() ? "symlink" : "not_a_directory");
  if (HAS_MODES && (stats.mode & OTHERS) !== 0) throw unusable(directory, "loose_mode");
}

/** The text of a private file; `undefined` when there is none. Throws `store_unavailable` for a link, or a file that others may use. */
export function readPrivateFile(path: string): string | undefined {
  let file: number;
  try {
    // A pipe must not be waited for. Windows has neither flag.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw isCode(error, "ELOOP") || isCode(error, "EMLINK") ? unusable(path, "symlink") : error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw unusable(path, "not_a_file");
    if (HAS_MODES && (stats.mode & OTHERS) !== 0) throw unusable(path, "loose_mode");
    const bytes = readFileSync(file);
    const text = bytes.toString("utf8");
    bytes.fill(0);
    return text;
  } finally {
    closeSync(file);
  }
}

/** Makes a file that is not there yet. Answers whether it did: `false` when somebody else was faster. */
export function createWhole(path: string, text: string, temporary: string): boolean {
  return viaTemporary(text, temporary, () => {
    if (!tryLink(temporary, path)) return false;
    rmSync(temporary);
    syncDirectory(path);
    return true;
  });
}

/** Gives a file a second name. Answers `false` when that is taken. */
export function tryLink(file: string, name: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** Puts a file in place of what is there, or is not. `beforehand` may throw at the last moment. */
export function replaceWhole(path: string, text: string, temporary: string, beforehand: () => void): void {
  viaTemporary(text, temporary, () => {
    beforehand();
    renameSync(temporary, path);
    syncDirectory(path);
  });
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncDirectory(path);
}

/** What a failure of the file system means: the error that is thrown instead. One of ours stays as it is. */
export function vaultError(error: unknown, path: string): AnyRemoteConnectorError {
  if (isRemoteConnectorError(error)) return error;
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") {
    return new RemoteConnectorError("store_full", {
      message: "There is no room for the vault; nothing was written.",
      details: { path },
      cause: error,
    });
  }
  return unusable(path, typeof code === "string" ? code : "unknown", error);
}

/** The error for a place that can't be used. */
export function unusable(path: string, reason: string, cause?: unknown): RemoteConnectorError<"store_unavailable"> {
  return new RemoteConnectorError("store_unavailable", {
    message: `The vault can't use ${path}: ${reason}.`,
    details: { path, reason },
    cause,
  });
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && Reflect.get(error, "code") === code;
}

function viaTemporary<T>(text: string, temporary: string, place: () => T): T {
  try {
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return place();
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** What a directory holds is on the disk only after this. Windows can't, and does it by itself. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Not by `recursive`: below a directory in which nothing can be made, such as those of `/proc`, it never ends. */
function makeDirectory(directory: string): void {
  try {
    makeOneDirectory(directory);
  } catch (error) {
    const parent = dirname(directory);
    if (!isCode(error, "ENOENT") || parent === directory) throw error;
    makeDirectory(parent);
    makeOneDirectory(directory);
  }
}

function makeOneDirectory(directory: string): void {
  try {
    mkdirSync(directory, 0o700);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}
