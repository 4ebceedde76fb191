/** A signal that fires with the first of several, and how to let go of them. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  /** Takes the listeners away; must be called when the work is over. */
  release(): void;
}

/**
 * Joins signals for the time of one piece of work. `AbortSignal.any` would stay registered with signals that live as long
 * as a route does.
 */
export function joinSignals(...signals: readonly AbortSignal[]): JoinedSignal {
  const controller = new AbortController();
  const removers = signals.map((signal) => {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    return () => signal.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    release() {
      for (const remove of removers) remove();
    },
  };
}

/** What can be revoked, and tells of it. */
export interface Revocable {
  onRevoked(run: (reason: unknown) => void, outlastsDrain?: () => boolean): () => void;
}

/** A call with a signal, which can be fired for a reason of the route's, if it can be. */
export interface Abortable {
  readonly signal: AbortSignal;
  readonly abort?: ((reason: unknown) => void) | undefined;
}

/**
 * Joins the signal of one call with the end of the route that it goes over. A signal that can be fired is joined in itself: a
 * second one, with a listener on the first, would be a good part of what a small call costs.
 */
export function joinRevocation(
  route: Revocable,
  { signal, abort: fire }: Abortable,
  outlastsDrain?: () => boolean,
): JoinedSignal {
  if (fire !== undefined) return { signal, release: route.onRevoked(fire, outlastsDrain) };
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort);
  const leave = route.onRevoked((reason) => controller.abort(reason), outlastsDrain);
  return {
    signal: controller.signal,
    release() {
      signal.removeEventListener("abort", abort);
      leave();
    },
  };
}
