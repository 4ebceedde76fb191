import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";

/**
 * Asks the application for a token of its own, once; blanks around it, such as the end of a file's line, are taken off. Rejects with
 * `authorize_failed` when its function throws or gives no text, with its own error if that is one of this package, or with the
 * signal's reason, without waiting for it any longer.
 */
export async function askApplication(give: () => string | Promise<string>, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const given: unknown = await unlessAborted(call(give), signal);
  const text = typeof given === "string" ? given.trim() : "";
  if (text === "") throw failed("the function gave no text");
  return text;
}

async function call(give: () => string | Promise<string>): Promise<unknown> {
  try {
    return await give();
  } catch (error) {
    throw isRemoteConnectorError(error) ? error : failed("the function threw", error);
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function failed(reason: string, cause?: unknown): RemoteConnectorError<"authorize_failed"> {
  return new RemoteConnectorError("authorize_failed", {
    message: "The application's function for its own token failed.",
    details: { reason },
    cause,
  });
}
