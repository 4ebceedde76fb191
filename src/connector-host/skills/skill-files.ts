import type { BigIntStats } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";

/** What is asked of a file system: it reads, and nothing else. */
export interface SkillFiles {
  lstat(path: string, options: { bigint: true }): Promise<BigIntStats>;
  /** The names in a folder, one after the other; whoever has enough ends it. */
  names(path: string): AsyncIterable<string>;
  open(path: string, flags: number): Promise<SkillFile>;
}

/** A file that is open. */
export interface SkillFile {
  stat(options: { bigint: true }): Promise<BigIntStats>;
  read(buffer: Uint8Array, offset: number, length: number, position: null): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** The machine's own. */
export const machineFiles: SkillFiles = { lstat, names, open };

async function* names(path: string): AsyncIterable<string> {
  for await (const { name } of await opendir(path)) yield name;
}
