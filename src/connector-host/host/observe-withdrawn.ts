import type { KeyStatus, ReconcileEvents } from "../../reconcile/index.js";

/** What is asked of convergence and of routes. */
export interface WithdrawalParts {
  readonly controller: {
    readonly events: ReconcileEvents;
    epochOf(scope: string): string | undefined;
    status(scope: string): Promise<readonly KeyStatus[]>;
  };
  readonly routes: { current(connectorKey: string): { readonly scope: string } | undefined };
}

/**
 * Resolves when it was observed that nothing of a disabled connector runs in the scope, or when the scope has ended, and everything of
 * it. Rejects with the signal's reason, and with what the store rejects with.
 */
export async function observeWithdrawn(
  { controller, routes }: WithdrawalParts,
  scope: string,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  let isNew = false;
  let wake = ignore;
  const tell = (): void => {
    isNew = true;
    wake();
  };
  const endNews = controller.events.subscribe((event) => {
    if (event.kind === "scope_shut" || ("key" in event && event.key === key)) tell();
  });
  signal.addEventListener("abort", tell);
  try {
    for (;;) {
      signal.throwIfAborted();
      isNew = false;
      if (controller.epochOf(scope) === undefined) return;
      const status = (await controller.status(scope)).find((each) => each.key === key);
      const isOff = status === undefined || (!status.enabled && status.activity === "converged");
      if (isOff && routes.current(key)?.scope !== scope) return;
      if (isNew) continue;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    endNews();
    signal.removeEventListener("abort", tell);
  }
}

function ignore(): void {}
