import type { RemoteConnectorError } from "../errors.js";
import type { Answer, Diagnostic, JsonObject, Notification, PeerErrorContext, Progress } from "../protocol/index.js";
import type { LifetimeLimits, SettledListener } from "../transport/index.js";
import type { ServerIntroduction } from "./initialize.js";

/** An answer together with what reading it may need. */
export interface ReceivedAnswer {
  readonly answer: Answer;
  /** The message that held it, as it came. */
  readonly line: Uint8Array;
  /** What HTTP said beside it, where there is HTTP. */
  readonly context?: PeerErrorContext | undefined;
  /** What was tolerated on the way. A reader may add to it with `note`. */
  readonly diagnostics: readonly Diagnostic[];
  note(diagnostic: Diagnostic): void;
}

/** One request: what is sent, how long it may take, and what its answer means. */
export interface CallSpec<T> {
  readonly method: string;
  /** Members that are `RawJson` keep their text. */
  readonly params: JsonObject | undefined;
  /** Laid over the `_meta` of the params. */
  readonly meta: JsonObject | undefined;
  /** Whether the server is told when nobody waits any more. `initialize` must never be cancelled. */
  readonly cancellable: boolean;
  readonly limits: LifetimeLimits;
  /** The total deadline that an error names, where `limits` holds only what is left of it. */
  readonly totalTimeoutMs?: number | undefined;
  /** The option that sets the total deadline. */
  readonly totalOption: string;
  /** It is never sent again, also when it did not run. Default false. */
  readonly isSentOnce?: boolean | undefined;
  readonly admit?: (() => string | undefined) | undefined;
  /** Asks for progress, under a token that is the request's id. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  readonly onSettled?: SettledListener | undefined;
  /** Makes the value of it, or throws why there is none. */
  readonly read: (received: ReceivedAnswer) => T;
}

/** One conversation with a server that was initialized, whatever carries it. */
export interface LegacyConnection {
  /** What the server said of itself when it was last initialized. */
  readonly introduction: ServerIntroduction;
  /**
   * Sends a request under an id of the connection's choice. The very promise that is returned carries the delivery verdict.
   * Throws `invalid_argument` (`not_sent`) for what can't be sent.
   */
  call<T>(spec: CallSpec<T>): Promise<T>;
  /** Sends a notification and forgets it. */
  notify(method: string, params?: JsonObject): void;
  report(diagnostic: Diagnostic): void;
  /** Why no call can be made any more; `undefined` while one can. */
  refusal(): RemoteConnectorError | undefined;
  /** Ends open calls with `cancelled`, and the conversation. Never rejects. */
  close(): Promise<void>;
}
