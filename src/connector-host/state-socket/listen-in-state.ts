import { lstat, mkdir, rename, rm, unlink } from "node:fs/promises";
import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type HttpHandler, type HttpListener, listen, type ListenOptions } from "../../serving/index.js";
import type { SocketAddress } from "./socket-address.js";

/** A socket of a state directory that is listened to. */
export interface StateSocket {
  /** The path of the socket, or the name of the pipe. */
  readonly path: string;
  /**
   * Removes the socket, lets answers that are being written end within `closeTimeoutMs`, and cuts the rest. Idempotent; called again,
   * the time that ends first counts.
   */
  close(closeTimeoutMs?: number): Promise<void>;
}

/** How requests are taken, and who is told of faults. */
export type StateSocketOptions = Omit<ListenOptions, "host" | "port" | "socketPath" | "onUpgrade"> & {
  readonly onFault: (error: unknown) => void;
};

/**
 * Listens on a socket of a state directory that belongs to this process. Rejects with `listen_failed`: its `reason` is
 * `path_too_long` for a directory whose path leaves no room for the socket's name, else the system's code.
 */
export async function listenInState(
  address: SocketAddress,
  handler: HttpHandler,
  options: StateSocketOptions,
): Promise<StateSocket> {
  const { listener, remove } = await listenAt(address, (socketPath) => listen(handler, { ...options, socketPath }));
  let removing: Promise<void> | undefined;
  const close = async (closeTimeoutMs?: number): Promise<void> => {
    // What can't be removed must not keep the host from ending: the next one replaces it.
    removing ??= remove().catch(options.onFault);
    await removing;
    await listener.close(closeTimeoutMs);
  };
  return { path: address.path, close };
}

/** A listener, and what removes its socket: the listener itself knows it by the name that it was made under. */
interface PlacedListener {
  readonly listener: HttpListener;
  readonly remove: () => Promise<void>;
}

async function listenAt(
  address: SocketAddress,
  open: (socketPath: string) => Promise<HttpListener>,
): Promise<PlacedListener> {
  if (address.kind === "too_long") throw listenFailed(address.path, "path_too_long");
  if (address.kind === "pipe") return { listener: await open(address.path), remove: async () => undefined };
  const { path, stagingDirectory, stagingPath } = address;
  let listener: HttpListener | undefined;
  try {
    // Made where nobody else can come to it, and moved when it is finished: nobody can talk to it before its mode is right, and
    // in the place of one that a killed process left it is there in one step.
    await rm(stagingDirectory, { recursive: true, force: true });
    await mkdir(stagingDirectory, { mode: 0o700 });
    listener = await open(stagingPath);
    const { ino } = await lstat(stagingPath, { bigint: true });
    await rename(stagingPath, path);
    await rm(stagingDirectory, { recursive: true, force: true });
    return { listener, remove: () => removeSocket(path, ino) };
  } catch (error) {
    await listener?.close();
    await rm(stagingDirectory, { recursive: true, force: true }).catch(() => undefined);
    if (isRemoteConnectorError(error)) throw error;
    throw listenFailed(path, codeOf(error), error);
  }
}

/** Removes one's own socket. If the state directory was deleted meanwhile, another host may have its socket there. */
async function removeSocket(path: string, ino: bigint): Promise<void> {
  try {
    const present = await lstat(path, { bigint: true });
    if (present.ino === ino) await unlink(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "unknown";
}

function listenFailed(address: string, reason: string, cause?: unknown): RemoteConnectorError<"listen_failed"> {
  return new RemoteConnectorError("listen_failed", {
    message: `The socket can't be opened at ${address}: ${reason}.`,
    details: { address, reason },
    cause,
  });
}
