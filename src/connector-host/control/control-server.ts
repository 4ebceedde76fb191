import { lstat, mkdir, rename, rm, unlink } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type HttpListener, listen, readBody, sendJson } from "../../serving/index.js";
import { classifyControlRequest } from "./classify-request.js";
import { controlAddress, type ControlAddress } from "./control-address.js";
import type { HostControl } from "./host-control.js";

export interface ControlServerOptions {
  /** Of the host, whose store is open: nobody else has it then, and a socket that is there is one of the past. */
  readonly stateDirectory: string;
  readonly control: HostControl;
  /** Told when something failed that is a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

/** A control socket that is listened to. */
export interface ControlServer {
  /** The path of the socket, or the name of the pipe. */
  readonly path: string;
  /** Removes the socket, lets answers that are being written end, and cuts the rest. Idempotent. */
  close(): Promise<void>;
}

/** No request says anything in its body. */
const MAX_BODY_BYTES = 1_024;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Listens on the control socket of a state directory. Rejects with `listen_failed`: its `reason` is `path_too_long` for a
 * directory whose path leaves no room for the socket's name, else the system's code.
 */
export async function openControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { stateDirectory, control, onFault } = options;
  const address = controlAddress(stateDirectory, process.platform);
  const handler = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    answer(request, response, control, onFault);
  const limits = { headersTimeoutMs: REQUEST_TIMEOUT_MS, requestTimeoutMs: REQUEST_TIMEOUT_MS, onFault };
  const { listener, remove } = await listenAt(address, (socketPath) => listen(handler, { socketPath, ...limits }));
  let closing: Promise<void> | undefined;
  const shutDown = async (): Promise<void> => {
    // What can't be removed must not keep the host from ending: the next one replaces it.
    await remove().catch(onFault);
    await listener.close();
  };
  return { path: address.path, close: () => (closing ??= shutDown()) };
}

/** A listener, and what removes its socket: the listener itself knows it by the name that it was made under. */
interface ControlListener {
  readonly listener: HttpListener;
  readonly remove: () => Promise<void>;
}

async function listenAt(
  address: ControlAddress,
  open: (socketPath: string) => Promise<HttpListener>,
): Promise<ControlListener> {
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  control: HostControl,
  onFault: (error: unknown) => void,
): Promise<void> {
  const verdict = classifyControlRequest(request);
  const reading = await readBody(request, { maxBytes: MAX_BODY_BYTES });
  if (reading.kind === "aborted") return;
  if (reading.kind === "too_large") return refuse(response, 413, "body_too_large", { Connection: "close" });
  switch (verdict.kind) {
    case "refused":
      return refuse(
        response,
        verdict.status,
        verdict.reason,
        verdict.allow === undefined ? {} : { Allow: verdict.allow },
      );
    case "refresh":
      control.refresh();
      return sendJson(response, 202, "{}");
    case "status":
      try {
        return sendJson(response, 200, JSON.stringify(await control.status()));
      } catch (error) {
        onFault(error);
        return refuse(response, 500, isRemoteConnectorError(error) ? error.code : "internal_error");
      }
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, JSON.stringify({ error: { reason } }), headers);
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "unknown";
}

function listenFailed(address: string, reason: string, cause?: unknown): RemoteConnectorError<"listen_failed"> {
  return new RemoteConnectorError("listen_failed", {
    message: `The control socket can't be opened at ${address}: ${reason}.`,
    details: { address, reason },
    cause,
  });
}
