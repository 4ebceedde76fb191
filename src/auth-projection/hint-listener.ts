import { RemoteConnectorError } from "../errors.js";
import { refuseUnknownOptions } from "../options.js";
import { addHeaders, type HeaderMap, isLoopback, shownUrl } from "../transport/index.js";
import { between, doubled, type Random } from "./backoff.js";
import { systemWallClock, type WallClock } from "./clock.js";
import { type HintSocket, type OpenHintSocket, openWebSocket } from "./hint-socket.js";
import type { Login, LoginGuard } from "./login.js";
import { parseHint } from "./parse-hint.js";

/** What happened on the hint socket. For observation: the wakes come by themselves. */
export type HintEvent =
  | { readonly kind: "connected" }
  | { readonly kind: "hint"; readonly revision: bigint | undefined; readonly connectorKey: string | undefined }
  /** A frame that is no JSON object. */
  | { readonly kind: "frame_ignored" }
  /** The connection is gone, or could not be made. `reason` is short and stable. */
  | {
      readonly kind: "disconnected";
      readonly reason: string;
      /** Epoch milliseconds. */
      readonly nextAttemptAt: number;
    };

export interface HintListenerOptions {
  /** wss, or ws on loopback; no userinfo, no fragment. */
  readonly url: string | URL;
  readonly login: Login;
  readonly logins: LoginGuard;
  /** Asks for a sync. Must not throw. */
  readonly onWake: () => void;
  /** Must not throw. */
  readonly onEvent?: ((event: HintEvent) => void) | undefined;
  /** The socket to use in place of the `ws` package's. */
  readonly openSocket?: OpenHintSocket | undefined;
  readonly clock?: WallClock | undefined;
  readonly random?: Random | undefined;
}

const OPTION_NAMES: readonly (keyof HintListenerOptions)[] = [
  "clock",
  "login",
  "logins",
  "onEvent",
  "onWake",
  "openSocket",
  "random",
  "url",
];

const MAX_FRAME_BYTES = 16 * 1024;
const CONNECT_TIMEOUT_MS = 30_000;
/** A connection that lived this long was a good one: the next failure counts as the first. */
const HEALTHY_MS = 10_000;
/** Between pings. A connection on which nothing came since the last one is dead. */
const PING_MS = 30_000;
const RETRY_BASE_MS = 2_000;
const RETRY_MAX_MS = 64_000;

type Phase =
  | { readonly kind: "waiting"; readonly cancel: () => void }
  | { readonly kind: "connecting"; readonly cancel: () => void }
  | { readonly kind: "open"; readonly cancelHealthy: () => void; cancelPing: () => void; heard: boolean }
  | { readonly kind: "closed" };

/**
 * Listens for hints that an account's authorizations changed, from its construction until the login ends or `close()`.
 *
 * A hint only wakes a sync, and so does every connection once it is open, since hints were missed before it. A lost
 * connection is made again after 1 to 2 seconds, doubling to 32 to 64, and from the beginning after one that lived.
 * Frames over 16 KiB end their connection.
 */
export class HintListener {
  readonly #url: URL;
  readonly #authorize: () => Promise<HeaderMap>;
  readonly #loginSignal: AbortSignal;
  readonly #onWake: () => void;
  readonly #onEvent: (event: HintEvent) => void;
  readonly #openSocket: OpenHintSocket;
  readonly #clock: WallClock;
  readonly #random: Random;
  #phase: Phase;
  #socket: HintSocket | undefined;
  /** Counts connections, so that what an older one still tells is recognized. */
  #attempt = 0;
  /** Connections in a row that failed or did not live. */
  #failures = 0;
  #dropping: Promise<void> = Promise.resolve();

  /** Throws `invalid_options`, or `invalid_url` for a URL that is refused. A login that has ended makes a closed one. */
  constructor(options: HintListenerOptions) {
    refuseUnknownOptions(options, OPTION_NAMES);
    this.#url = parseHintUrl(options.url);
    this.#authorize = options.logins.authorizerFor(options.login);
    this.#onWake = options.onWake;
    this.#onEvent = options.onEvent ?? (() => undefined);
    this.#openSocket = options.openSocket ?? openWebSocket;
    this.#clock = options.clock ?? systemWallClock;
    this.#random = options.random ?? Math.random;
    this.#loginSignal = options.logins.signalOf(options.login);
    this.#loginSignal.addEventListener("abort", this.#end);
    this.#phase = { kind: "waiting", cancel: this.#clock.schedule(0, this.#connect) };
    if (this.#loginSignal.aborted) this.#end();
  }

  /** Ends the listening; resolves when the connection is gone. No event and no wake comes any more. Idempotent. */
  close(): Promise<void> {
    this.#end();
    return this.#dropping;
  }

  readonly #end = (): void => {
    if (this.#phase.kind === "closed") return;
    this.#leave();
    this.#phase = { kind: "closed" };
    this.#loginSignal.removeEventListener("abort", this.#end);
  };

  readonly #connect = (): void => {
    const attempt = (this.#attempt += 1);
    const cancel = this.#clock.schedule(CONNECT_TIMEOUT_MS, () => this.#lose(attempt, "timeout"));
    this.#phase = { kind: "connecting", cancel };
    this.#authorize().then(
      (headers) => this.#open(attempt, headers),
      () => this.#lose(attempt, "not authorized"),
    );
  };

  #open(attempt: number, headers: HeaderMap): void {
    // Credentials can also come after the attempt was given up, and before the next one began.
    if (!this.#isNow(attempt) || this.#phase.kind !== "connecting") return;
    try {
      addHeaders([], headers);
    } catch {
      this.#lose(attempt, "invalid header");
      return;
    }
    this.#socket = this.#openSocket(
      { url: this.#url, headers, maxFrameBytes: MAX_FRAME_BYTES },
      {
        onOpen: () => this.#establish(attempt),
        onFrame: (frame) => this.#receive(attempt, frame),
        onPong: () => this.#hear(attempt),
        onClose: (reason) => this.#lose(attempt, reason),
      },
    );
  }

  #establish(attempt: number): void {
    if (!this.#isNow(attempt) || this.#phase.kind !== "connecting") return;
    this.#phase.cancel();
    this.#phase = {
      kind: "open",
      heard: true,
      cancelHealthy: this.#clock.schedule(HEALTHY_MS, () => (this.#failures = 0)),
      cancelPing: this.#clock.schedule(PING_MS, this.#ping),
    };
    this.#onEvent({ kind: "connected" });
    this.#onWake();
  }

  readonly #ping = (): void => {
    const phase = this.#phase;
    if (phase.kind !== "open") return;
    if (!phase.heard) {
      this.#lose(this.#attempt, "silent");
      return;
    }
    phase.heard = false;
    phase.cancelPing = this.#clock.schedule(PING_MS, this.#ping);
    this.#socket?.ping();
  };

  #hear(attempt: number): void {
    if (this.#isNow(attempt) && this.#phase.kind === "open") this.#phase.heard = true;
  }

  #receive(attempt: number, frame: Uint8Array): void {
    if (!this.#isNow(attempt)) return;
    this.#hear(attempt);
    const hint = parseHint(frame);
    if (hint.kind === "malformed") this.#onEvent({ kind: "frame_ignored" });
    if (hint.kind !== "changed") return;
    this.#onEvent({ kind: "hint", revision: hint.revision, connectorKey: hint.connectorKey });
    this.#onWake();
  }

  #lose(attempt: number, reason: string): void {
    if (!this.#isNow(attempt) || this.#phase.kind === "waiting") return;
    this.#leave();
    this.#failures += 1;
    const longest = doubled(this.#failures, RETRY_BASE_MS, RETRY_MAX_MS);
    const delayMs = between(longest / 2, longest, this.#random);
    this.#phase = { kind: "waiting", cancel: this.#clock.schedule(delayMs, this.#connect) };
    this.#onEvent({ kind: "disconnected", reason, nextAttemptAt: this.#clock.now() + delayMs });
  }

  /** Gives up what the phase holds: its timers and its connection. */
  #leave(): void {
    const phase = this.#phase;
    if (phase.kind === "open") {
      phase.cancelHealthy();
      phase.cancelPing();
    } else if (phase.kind !== "closed") {
      phase.cancel();
    }
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) this.#dropping = Promise.all([this.#dropping, socket.drop()]).then(() => undefined);
  }

  #isNow(attempt: number): boolean {
    return this.#phase.kind !== "closed" && attempt === this.#attempt;
  }
}

/** Checks where hints come from. Throws `invalid_url` for what is neither wss nor ws on loopback, or holds userinfo or a fragment. */
export function parseHintUrl(value: string | URL): URL {
  if (!URL.canParse(String(value))) return refuse("(not a URL)", "not an absolute URL");
  const url = new URL(value);
  const shown = shownUrl(url);
  if (url.username !== "" || url.password !== "") return refuse(shown, "holds userinfo");
  if (url.href.includes("#")) return refuse(shown, "holds a fragment");
  const secure = url.protocol === "wss:";
  const local = url.protocol === "ws:" && isLoopback(url.hostname);
  return secure || local ? url : refuse(shown, "neither wss nor ws on loopback");
}

function refuse(url: string, reason: string): never {
  throw new RemoteConnectorError("invalid_url", {
    message: `The URL ${url} is refused: ${reason}.`,
    details: { url, reason },
  });
}
