/**
 * Shows a person the page where they authorize. The URL is https, or http on loopback, and goes to a program as one argument.
 * Resolving says nothing of what the person does; rejecting ends the authorization.
 */
export type OpenUrl = (url: string) => void | Promise<void>;

/** Where a browser comes back to, while it is waited for. */
export interface CallbackSession {
  /** What is sent as `redirect_uri`. */
  readonly redirectUri: string;
  /** The URL that the browser was sent to, as a whole. Rejects with the signal's reason. May be asked once. */
  wait(signal: AbortSignal): Promise<URL>;
  /** Tells the person how it ended, where it can, and stops waiting. Never rejects. Idempotent. */
  close(outcome: "authorized" | "failed"): Promise<void>;
}

/** Waits for browsers that come back. */
export interface CallbackReceiver {
  /**
   * Begins to wait. `registered` are redirect URIs of a client that is registered already: one of them exactly, or none that fits
   * rejects with `listen_failed`. Left out: the receiver's own choice, which is then registered.
   */
  open(registered: readonly string[] | undefined): Promise<CallbackSession>;
  /** What a registration that waits for nobody yet names, such as a metadata document does. */
  readonly redirectUris: readonly string[];
}
