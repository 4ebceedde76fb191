import type { JsonObject } from "../../protocol/index.js";

/** What goes on with a state: a request that waits at its server, or a call that was approved or is to be. */
export type StateKind = "held" | "approval";

/** What a state says. */
export interface SealedContent {
  readonly kind: StateKind;
  /** Of the call: 1 to 64 of A-Z a-z 0-9 _ -. It can be read by everybody. */
  readonly callId: string;
  /** Read by nobody else. */
  readonly payload: JsonObject;
}

/** What a text is that an agent gave as the state of a request. */
export type OpenedState =
  /** Sealed by this process, and as it was then. */
  | ({ readonly kind: "opened" } & { readonly content: SealedContent })
  /** Sealed by an earlier process on the same store, as far as can be told: its key is gone. */
  | { readonly kind: "past"; readonly of: StateKind }
  /** It was sealed by this process, and was changed. */
  | { readonly kind: "broken" }
  /** A server's own, which is none of the host's business. */
  | { readonly kind: "foreign" };

/** Makes states of requests that agents carry and can neither read nor change. Both are pure, but for the nonce. */
export interface StateSealer {
  seal(content: SealedContent): string;
  /** Never throws. */
  open(text: string): OpenedState;
}
