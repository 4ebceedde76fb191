import { createHash } from "node:crypto";
import { join, resolve } from "node:path";

/** Which of the sockets of a state directory is meant. */
export interface SocketPlace {
  /** The socket's file, without `.sock`. */
  readonly name: string;
  /** What the name of its pipe on Windows begins with. */
  readonly pipePrefix: string;
}

/** Where a socket of a state directory is. */
export type SocketAddress =
  /** A socket in the state directory. `stagingDirectory` and `stagingPath`: where it is made, before it is moved to `path`. */
  | {
      readonly kind: "socket";
      readonly path: string;
      readonly stagingDirectory: string;
      readonly stagingPath: string;
    }
  /** A named pipe of Windows, whose name stands for the state directory. */
  | { readonly kind: "pipe"; readonly path: string }
  /** The path of the socket would be longer than the system takes. */
  | { readonly kind: "too_long"; readonly path: string; readonly maxBytes: number };

/** Bytes of a socket's path that the kernels take, without the closing NUL: 108 with it on Linux, 104 elsewhere. */
const MAX_BYTES_LINUX = 107;
const MAX_BYTES = 103;

/** Where a socket of a state directory is, on a platform as `process.platform` names it. Pure. */
export function socketAddress(stateDirectory: string, place: SocketPlace, platform: string): SocketAddress {
  const directory = resolve(stateDirectory);
  if (platform === "win32") {
    // Names of files don't tell upper case there.
    const name = createHash("sha256").update(directory.toLowerCase()).digest("hex").slice(0, 32);
    return { kind: "pipe", path: `\\\\.\\pipe\\${place.pipePrefix}-${name}` };
  }
  const path = join(directory, `${place.name}.sock`);
  const maxBytes = platform === "linux" ? MAX_BYTES_LINUX : MAX_BYTES;
  if (Buffer.byteLength(path) > maxBytes) return { kind: "too_long", path, maxBytes };
  const stagingDirectory = join(directory, `${place.name}.d`);
  // Shorter than `path`, so that it fits as well.
  return { kind: "socket", path, stagingDirectory, stagingPath: join(stagingDirectory, "s") };
}
