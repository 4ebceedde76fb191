import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import {
  createUndiciExchange,
  type HttpAnswer,
  HttpEndpoint,
  httpGet,
  httpSend,
  resolveTransportOptions,
} from "../../transport/index.js";
import { type AdminVerbs, createAdminClient } from "../admin/index.js";
import { AdminRequests } from "./admin-requests.js";
import { type Confirm, confirmAtTerminal } from "./confirm-at-terminal.js";
import { controlAddress } from "./control-address.js";
import { REFRESH_PATH, STATUS_PATH } from "./control-paths.js";
import type { HostStatus } from "./host-control.js";
import { parseHostStatus } from "./parse-status.js";
import { refusedAnswer } from "./refused-answer.js";

export interface ConnectToHostOptions {
  /** That of the host, as it was given to it. */
  readonly stateDirectory: string;
  /** How long a request may take in all. 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Asks a person whether something is to be done that only people may do: what permits more, approvals, test calls, links. Default
   * {@link confirmAtTerminal}. Whoever gives another one vouches that no agent answers it.
   */
  readonly confirm?: Confirm | undefined;
}

/** The host that owns a state directory, as another process of the same user sees it. */
export interface HostConnection {
  /** What the host and its connectors are at. */
  status(): Promise<HostStatus>;
  /** Makes the host ask the control plane for the account's authorization now. Resolves before it has. */
  refresh(): Promise<void>;
  /**
   * What a person administers the host by. What needs one is asked with `confirm`, in the host's words, before it is done; where there is
   * no terminal it rejects with `terminal_required`, and with `cancelled` (`not_confirmed`) when the person does not want it; nothing was
   * changed then. A change is sent once: `connection_broken` and `timeout` (`unknown`) say that it may have been made.
   */
  readonly admin: AdminVerbs;
  /** Ends what runs with `cancelled`, and drops the connections. Idempotent. */
  close(): Promise<void>;
}

/** Names what is spoken to; the socket says where. */
const ORIGIN = "http://localhost";
/** Of a view, or of a test call's result, as a text in JSON. */
const MAX_ADMIN_BYTES = 64 * 1024 * 1024;
const MAX_CONNECTIONS = 4;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Talks to the host that owns a state directory: what to do after `openConnectorHost` rejected with `store_in_use`. Nothing of
 * the store is touched. Asks once whether somebody is there.
 *
 * Rejects, and so do the methods, with
 *
 * - `connect_failed` (`not_sent`): nobody is there, or the socket may not be opened; `reason` is the system's code (`ENOENT`,
 *   `ECONNREFUSED`, `EACCES`), or `path_too_long`. A host that is starting or has just ended looks like this too: open the
 *   store, or try again;
 * - `connection_broken` (`unknown`): the connection ended while the host was asked, twice; `timeout`, `limit_exceeded` (`unknown`);
 * - `unexpected_answer`, `invalid_answer` (`answered`): it refuses, or is of a version that can't be understood;
 * - `invalid_options`; `cancelled` after `close`.
 */
export async function connectToHost(options: ConnectToHostOptions): Promise<HostConnection> {
  refuseUnknownOptions(options, ["stateDirectory", "timeoutMs", "confirm"]);
  const { stateDirectory } = options;
  if (typeof stateDirectory !== "string" || stateDirectory === "") refuseOption("stateDirectory", "must be a path");
  const timeoutMs = durationOption("timeoutMs", options.timeoutMs, 10_000);
  const confirm = functionOption("confirm", options.confirm, confirmAtTerminal);
  const address = controlAddress(stateDirectory, process.platform);
  if (address.kind === "too_long") throw connectFailed(address.path, "path_too_long");
  const connection = new SocketConnection(address.path, timeoutMs, confirm);
  try {
    await connection.status();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class SocketConnection implements HostConnection {
  readonly #path: string;
  readonly #status: HttpEndpoint;
  readonly #refresh: HttpEndpoint;
  readonly #requests: AdminRequests;
  readonly admin: AdminVerbs;

  constructor(path: string, timeoutMs: number, confirm: Confirm) {
    this.#path = path;
    const exchange = createUndiciExchange({ origin: ORIGIN, socketPath: path, maxConnections: MAX_CONNECTIONS });
    const config = resolveTransportOptions({
      exchange,
      maxBodyBytes: MAX_ANSWER_BYTES,
      connectTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
    });
    this.#status = new HttpEndpoint(new URL(STATUS_PATH, ORIGIN), config, undefined);
    this.#refresh = new HttpEndpoint(new URL(REFRESH_PATH, ORIGIN), config, undefined);
    this.#requests = new AdminRequests({
      origin: ORIGIN,
      config: { ...config, maxBodyBytes: MAX_ADMIN_BYTES },
      timeoutMs,
      confirm,
      send: (request, isRepeatable) => this.#send(request, isRepeatable),
    });
    this.admin = createAdminClient((verb, params, sending) => this.#requests.ask(verb, params, sending));
  }

  async status(): Promise<HostStatus> {
    const answer = await this.#ask(() => httpGet(this.#status));
    return parseHostStatus(answer.body);
  }

  async refresh(): Promise<void> {
    await this.#ask(() => httpSend(this.#refresh, "POST", null));
  }

  async close(): Promise<void> {
    await Promise.all([this.#status.close(), this.#refresh.close(), this.#requests.close()]);
  }

  async #ask(send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    const answer = await this.#send(send);
    if (answer.status >= 200 && answer.status <= 299) return answer;
    throw refusedAnswer(answer);
  }

  async #send(send: () => Promise<HttpAnswer>, isRepeatable = true): Promise<HttpAnswer> {
    try {
      return await send().catch((error: unknown) => {
        // A connection that was idle may have ended with its host.
        if (isRepeatable && isRemoteConnectorError(error, "connection_broken")) return send();
        throw error;
      });
    } catch (error) {
      // The origin is a name that stands for the socket.
      if (isRemoteConnectorError(error, "connect_failed")) throw connectFailed(this.#path, error.details.reason, error);
      throw error;
    }
  }
}

function connectFailed(path: string, reason: string, cause?: unknown): RemoteConnectorError<"connect_failed"> {
  return new RemoteConnectorError("connect_failed", {
    message: `No host can be reached at ${path}: ${reason}.`,
    details: { origin: path, reason },
    cause,
  });
}
