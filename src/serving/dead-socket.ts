import { lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";

/**
 * Removes the file of a Unix socket on which nobody listens any more, as a killed server leaves it. What is no socket, and one
 * that answers, stays. Never rejects: whoever listens next meets what is left.
 */
export async function removeDeadSocket(path: string): Promise<void> {
  try {
    const file = await lstat(path);
    if (file.isSocket() && (await isDead(path))) await unlink(path);
  } catch {
    // Nothing is there, or nothing that may be touched.
  }
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
