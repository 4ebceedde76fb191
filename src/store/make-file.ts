import { chmod, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory for its owner only, and its parents likewise. One that is there is left as it is.
 *
 * Not by `mkdir` with `recursive`: below a directory in which nothing can be made, such as those of `/proc`, it never ends.
 */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await makeOneDirectory(directory);
  } catch (error) {
    const parent = dirname(directory);
    if (!isCode(error, "ENOENT") || parent === directory) throw error;
    await makeDirectory(parent);
    await makeOneDirectory(directory);
  }
}

async function makeOneDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, 0o700);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
}

/** Makes a file before SQLite would make it, so that nobody else could read it even for a moment. */
export async function makeFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    // By its path: opening and closing a file that this process holds would give all its locks away.
    await chmod(path, 0o600);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && Reflect.get(error, "code") === code;
}
