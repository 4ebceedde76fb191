/**
 * What a diagnostic can be about. Each is something the peer did that this package tolerates, and that nobody should
 * have to find in a log.
 */
export type DiagnosticKind =
  /** A tool was left out because its `x-mcp-header` is invalid. */
  | "tool_excluded"
  /** A tool is listed that can't be called: it asks for a way of calling that isn't spoken here. */
  | "tool_not_callable"
  /** An entry of a list was left out: no object, no name, no usable schema. */
  | "entry_dropped"
  /** A later entry with a name that was there already was left out. */
  | "duplicate_entry"
  /** An optional member of a wrong type was removed. */
  | "member_removed"
  /** Data on a stream that is no JSON-RPC message. Reported once per stream. */
  | "not_a_message"
  /** A request of the server where the revision allows none. */
  | "server_request"
  /** A response that belongs to no request of ours. */
  | "unmatched_response"
  /** A response was matched though its id came back as a string. */
  | "id_echoed_as_string"
  /** A message to the peer that it could do without was left out: too many waited for it to read. */
  | "message_dropped"
  /** The last event of a stream came without its blank line. */
  | "unterminated_event"
  /** Progress that does not increase. It was passed on. */
  | "progress_not_increasing"
  /** A caller's handler threw. */
  | "handler_failed"
  /** A declared method is not there; its list reads as empty. */
  | "declared_but_missing"
  /** The state of a task came with the result type of its creation. */
  | "task_result_type"
  /** A list walk was begun again because the server refused its cursor. */
  | "walk_restarted"
  /** A notification on a subscription's stream before its acknowledgement. It was left out. */
  | "before_acknowledgement"
  /** A second acknowledgement of a subscription. It was ignored. */
  | "acknowledged_again"
  /** A notification of a kind that the subscription's acknowledgement does not have. It was passed on. */
  | "not_acknowledged"
  /** A notification of another subscription on this one's stream. It was left out. */
  | "other_subscription"
  /** The server lost its session; a new one was opened. */
  | "session_replaced"
  /** The server says something else of itself than in the session before. */
  | "introduction_changed"
  /** What was set up in a session could not be set up again in the next one. */
  | "not_restored"
  /** The server can't speak by itself: its listening stream is refused, or was given up. */
  | "not_listening";

/** Something tolerated. `message` is for people; decide by `kind`. */
export interface Diagnostic {
  readonly kind: DiagnosticKind;
  readonly message: string;
  /** The tool, member or method concerned. */
  readonly subject?: string | undefined;
  /** The place inside the subject, for a schema. */
  readonly path?: string | undefined;
}
