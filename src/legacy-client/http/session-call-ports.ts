import type {
  Answer,
  Diagnostic,
  JsonObject,
  LegacyRevision,
  MessageChannel,
  Notification,
  Progress,
  ReadRetryConfig,
} from "../../protocol/index.js";
import type { AnswerHead, HttpEndpoint, Telemetry } from "../../transport/index.js";
import type { ResumeConfig } from "./plan-resume.js";
import type { RequestScope } from "./session.js";

/** A request under way, as its connection sees it. */
export interface OpenSessionCall {
  onAnswer(answer: Answer, message: Uint8Array | string, diagnostic: Diagnostic | undefined): void;
  onProgress(progress: Progress): void;
  onNotification(notification: Notification): void;
  /** The server waits for us: until {@link release} its silence is no fault. */
  hold(): void;
  release(): void;
  /** Something came on the session's own stream: a call whose response is to come there is not forgotten. */
  touch(): void;
  /** Nothing comes on the session's own stream any more. */
  onDeaf(): void;
  /** The client was closed. */
  onClosed(): void;
}

/** What a call needs of its connection. */
export interface SessionCallHost {
  readonly endpoint: HttpEndpoint;
  readonly channel: MessageChannel<OpenSessionCall>;
  readonly resume: ResumeConfig;
  readonly readRetries: ReadRetryConfig;
  readonly isClosed: boolean;
  /** Someone here works on a request of the server. */
  readonly isServing: boolean;
  /** The session has a stream of its own, on which responses can come. */
  readonly isListening: boolean;
  readonly telemetry: Telemetry;
  /** The revision that was agreed on. */
  readonly revision: LegacyRevision | undefined;
  /** The session to use; a promise while there is none. */
  session(): RequestScope | Promise<RequestScope>;
  /** The session after the one of this generation, which the server doesn't know any more. */
  renew(generation: number): RequestScope | Promise<RequestScope>;
  /** A message that is not simply the answer to the call on whose stream it came. */
  receive(value: unknown, message: Uint8Array | string, origin: OpenSessionCall | undefined): void;
  /** Tell the server that nobody waits for the answer any more. */
  cancelRequest(scope: RequestScope, id: number): void;
  onResult(method: string, params: JsonObject | undefined): void;
  onSettled(call: OpenSessionCall): void;
  report(diagnostic: Diagnostic): void;
}

/** A call of the connection's own, in a session that it names and that is not replaced for it. */
export interface BoundCall {
  readonly scope: RequestScope;
  readonly endpoint: HttpEndpoint;
  /** What it is part of, for who authorizes it. Default: nothing else. */
  readonly purpose?: object | undefined;
  onHead?(head: AnswerHead): void;
  /** An answer that is no success, before it is judged. */
  onRefused?(status: number, body: string): void;
}
