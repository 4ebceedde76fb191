import { type BigIntStats, constants } from "node:fs";
import { join } from "node:path";
import { isRemoteConnectorError } from "../../errors.js";
import type { SkillFile, SkillFiles } from "./skill-files.js";
import { CHANGED, readFailure, type RefuseSkills } from "./skill-refusals.js";

/** What a tree is read with. */
export interface SkillTreeInit {
  /** An absolute path. */
  readonly root: string;
  readonly files: SkillFiles;
  readonly signal: AbortSignal;
  readonly refuse: RefuseSkills;
}

/** A folder or a file below a root, as it was seen. */
export interface SkillEntry {
  /** Below the root, with `/` between the names; `""` for the root. */
  readonly path: string;
  readonly stats: BigIntStats;
  /** Of the root's own entries 1. */
  readonly depth: number;
}

const MAX_DEPTH = 8;
const MAX_ENTRIES = 128;
const MAX_FILE_BYTES = 512 * 1024;
/** Follows no link, and waits for nobody at the other end of a pipe. Where there are no such flags, there is neither. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The tree below a folder: bounded, and without links, so that nothing in it is anywhere else. What is read of it is only good once
 * {@link assertUnchanged} has found everything as it was.
 */
export class SkillTree {
  readonly #init: SkillTreeInit;
  readonly #entries: SkillEntry[] = [];

  constructor(init: SkillTreeInit) {
    this.#init = init;
  }

  /**
   * Everything in it, the root first, each folder before what is in it and names in the order of their code units. Rejects with
   * `invalid_skills`, and with the signal's reason.
   */
  async walk(): Promise<readonly SkillEntry[]> {
    await this.#see("", 0);
    // It grows while it is walked.
    for (const { path, depth, stats } of this.#entries) {
      if (!stats.isDirectory()) continue;
      const names = await this.#namesIn(path);
      for (const name of names.toSorted()) await this.#see(path === "" ? name : `${path}/${name}`, depth + 1);
    }
    return this.#entries;
  }

  /** The bytes of a file of the tree, all of them. Rejects as {@link walk} does. */
  async read({ path, stats }: SkillEntry): Promise<Uint8Array> {
    const file = await this.#do(path, () => this.#init.files.open(this.#place(path), READ_ONLY));
    try {
      const bytes = await this.#do(path, () => readWhole(file, stats));
      if (bytes === undefined) throw this.#init.refuse(path, CHANGED);
      return bytes;
    } finally {
      await file.close();
    }
  }

  /** Rejects as {@link walk} does when anything is not what it was when it was seen. */
  async assertUnchanged(): Promise<void> {
    for (const { path, stats } of this.#entries) {
      const now = await this.#do(path, () => this.#init.files.lstat(this.#place(path), { bigint: true }));
      if (!isSame(now, stats)) throw this.#init.refuse(path, CHANGED);
    }
  }

  async #see(path: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw this.#init.refuse(path, `lies more than ${String(MAX_DEPTH)} folders deep`);
    if (UNSHOWABLE.test(path)) throw this.#init.refuse(path, "has a name that can't be shown");
    const stats = await this.#do(path, () => this.#init.files.lstat(this.#place(path), { bigint: true }));
    if (stats.isSymbolicLink()) throw this.#init.refuse(path, "is a link");
    if (depth === 0 && !stats.isDirectory()) throw this.#init.refuse(path, "is no folder");
    if (!stats.isDirectory() && !stats.isFile()) throw this.#init.refuse(path, "is neither a file nor a folder");
    if (stats.isFile() && stats.size > MAX_FILE_BYTES) throw this.#init.refuse(path, "is larger than 512 KiB");
    this.#entries.push({ path, stats, depth });
  }

  async #namesIn(path: string): Promise<readonly string[]> {
    return this.#do(path, async () => {
      const names: string[] = [];
      // The root is none of the entries.
      const room = MAX_ENTRIES + 1 - this.#entries.length;
      for await (const name of this.#init.files.names(this.#place(path))) {
        if (names.length === room)
          throw this.#init.refuse("", `holds more than ${String(MAX_ENTRIES)} files and folders`);
        names.push(name);
      }
      return names;
    });
  }

  #place(path: string): string {
    return path === "" ? this.#init.root : join(this.#init.root, path);
  }

  async #do<T>(path: string, work: () => Promise<T>): Promise<T> {
    this.#init.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (isRemoteConnectorError(error, "invalid_skills")) throw error;
      throw this.#init.refuse(path, readFailure(path, error), error);
    }
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\\]/;

/** The bytes of a file; `undefined` when it is not what was seen. */
async function readWhole(file: SkillFile, seen: BigIntStats): Promise<Uint8Array | undefined> {
  if (!isSame(await file.stat({ bigint: true }), seen)) return undefined;
  // One more than there is, so that a file that has grown shows it.
  const bytes = new Uint8Array(Number(seen.size) + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const isWhole = length === Number(seen.size) && isSame(await file.stat({ bigint: true }), seen);
  return isWhole ? bytes.subarray(0, length) : undefined;
}

/** Whether it is the same file or folder, and nobody has written in it. Times are in nanoseconds. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.mode === other.mode &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}
