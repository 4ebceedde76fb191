import { refuseUnknownOptions } from "../options.js";
import { type Clock, type Exchange, HttpEndpoint, httpGet, resolveTransportOptions } from "../transport/index.js";
import { controlUrl } from "./control-url.js";
import type { Login, LoginGuard } from "./login.js";
import type { Snapshot } from "./parse-snapshot.js";
import { readSnapshotAnswer } from "./snapshot-answer.js";

/** Where the snapshots of one login come from. */
export interface SnapshotSource {
  /**
   * The account's snapshot as it is now. Rejects with `account_not_ready` when the credentials are missing or refused, with
   * the signal's reason when it fires, and with another `RemoteConnectorError` for every other failure.
   */
  fetch(signal: AbortSignal): Promise<Snapshot>;
}

export interface SnapshotClientOptions {
  /** Base of the control plane: https, or http on loopback. A path is allowed; userinfo, query and fragment are not. */
  readonly controlBase: string | URL;
  readonly login: Login;
  readonly logins: LoginGuard;
  /** The exchange to use in place of undici's. */
  readonly exchange?: Exchange | undefined;
  /** Monotonic, for the deadline. */
  readonly clock?: Clock | undefined;
}

const OPTION_NAMES: readonly (keyof SnapshotClientOptions)[] = ["clock", "controlBase", "exchange", "login", "logins"];
const PATH = "/v1/connector-authorizations/snapshot";
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * Fetches the authorization snapshots of one login: each with credentials read for it, within 30 seconds in all, 4 MiB at
 * most, no redirects.
 *
 * When the login ends, what runs is rejected at once with `cancelled`, and so is every later fetch.
 */
export class SnapshotClient implements SnapshotSource {
  readonly #endpoint: HttpEndpoint;
  readonly #loginSignal: AbortSignal;

  /** Throws `invalid_options`, or `invalid_url` for a base that is refused. */
  constructor(options: SnapshotClientOptions) {
    refuseUnknownOptions(options, OPTION_NAMES);
    const { clock, controlBase, exchange, login, logins } = options;
    const config = resolveTransportOptions({
      clock,
      exchange,
      maxBodyBytes: MAX_BODY_BYTES,
      connectTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      totalTimeoutMs: TIMEOUT_MS,
    });
    this.#endpoint = new HttpEndpoint(snapshotUrl(controlBase), config, logins.authorizerFor(login));
    this.#loginSignal = logins.signalOf(login);
    this.#loginSignal.addEventListener("abort", this.#onLoginEnd);
    if (this.#loginSignal.aborted) this.#onLoginEnd();
  }

  async fetch(signal: AbortSignal): Promise<Snapshot> {
    return readSnapshotAnswer(await httpGet(this.#endpoint, { signal }));
  }

  /** Ends what runs with `cancelled` and drops its connections. Idempotent. */
  close(): Promise<void> {
    this.#loginSignal.removeEventListener("abort", this.#onLoginEnd);
    return this.#endpoint.close();
  }

  readonly #onLoginEnd = (): void => {
    void this.close();
  };
}

/**
 * The snapshot's URL below a control plane's base. Throws `invalid_url` for a base that is neither https nor http on
 * loopback, or that holds userinfo, a query or a fragment.
 */
export function snapshotUrl(controlBase: string | URL): URL {
  return controlUrl(controlBase, PATH);
}
