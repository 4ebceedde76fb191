import type { LegacyRevision } from "../protocol/index.js";
import type { LegacyClientConfig } from "./client-options.js";
import type { LegacyConnection } from "./connection.js";
import { initializeParams, type ServerIntroduction } from "./initialize.js";
import { type InitializeStep, readInitializeAnswer } from "./read-initialize.js";

/** What carries the handshake. */
type Carrier = Pick<LegacyConnection, "call" | "report">;

/**
 * Sends `initialize`: one offer, and a second one where the server names what it would rather speak. All of it has one
 * deadline. `onSent` is told of each answer, whose delivery verdict is that of the handshake.
 *
 * Source: 2025-11-25, Lifecycle, Initialization.
 */
export async function negotiate(
  carrier: Carrier,
  config: LegacyClientConfig,
  onSent: (answer: Promise<unknown>) => void,
): Promise<ServerIntroduction> {
  const { revisions, clock, lifecycleDeadlines } = config;
  const offered: LegacyRevision[] = [];
  const endsAt = clock.now() + lifecycleDeadlines.totalTimeoutMs;
  let offer = revisions[0];
  for (;;) {
    offered.push(offer);
    const answered = offerRevision(carrier, config, { offer, offered, remainingMs: endsAt - clock.now() });
    onSent(answered);
    const step = await answered;
    if (step.kind === "ready") {
      for (const diagnostic of step.diagnostics) carrier.report(diagnostic);
      return step.introduction;
    }
    offer = step.revision;
  }
}

interface Offer {
  readonly offer: LegacyRevision;
  readonly offered: readonly LegacyRevision[];
  readonly remainingMs: number;
}

function offerRevision(carrier: Carrier, config: LegacyClientConfig, offer: Offer): Promise<InitializeStep> {
  const { lifecycleDeadlines, signal, revisions } = config;
  return carrier.call<InitializeStep>({
    method: "initialize",
    params: initializeParams(offer.offer, config),
    meta: undefined,
    cancellable: false,
    limits: {
      connectTimeoutMs: lifecycleDeadlines.connectTimeoutMs,
      // A server may be slow to start, and says nothing meanwhile.
      idleTimeoutMs: Infinity,
      totalTimeoutMs: offer.remainingMs,
      signal,
    },
    totalTimeoutMs: lifecycleDeadlines.totalTimeoutMs,
    totalOption: "lifecycleTimeoutMs",
    read: (received) => readInitializeAnswer(received, { revisions, offered: offer.offered }),
  });
}
