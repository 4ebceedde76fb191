/** An idle connection is dropped before typical servers drop it (5 s), so that few requests race with their FIN. */
export const IDLE_CONNECTION_MS = 4_000;
/** How much earlier than the server's own `Keep-Alive` says. */
export const KEEP_ALIVE_MARGIN_MS = 1_000;

/**
 * When an attempt to connect that nobody waits for any more gives up its socket. Calls have their own deadlines, and
 * longer ones than this are cut.
 */
export const CONNECT_ATTEMPT_MS = 120_000;

/** When a connection that requests share, and that is still being made, has taken too long for a new request to wait for it. */
export const CONNECT_PATIENCE_MS = 5_000;
