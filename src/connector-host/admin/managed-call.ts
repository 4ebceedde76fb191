import type { ManagedCall } from "./management-view.js";

/** What of a row people are shown: neither digests nor bodies. Pure. */
export function managedCall(row: ManagedCall): ManagedCall {
  return {
    id: row.id,
    requestId: row.requestId,
    attempt: row.attempt,
    kind: row.kind,
    connectorKey: row.connectorKey,
    nativeName: row.nativeName,
    workspaceId: row.workspaceId,
    agentSessionId: row.agentSessionId,
    durableName: row.durableName,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    durationMs: row.durationMs,
    state: row.state,
    verdict: row.verdict,
    errorCode: row.errorCode,
    isError: row.isError,
    argumentBytes: row.argumentBytes,
    resultBytes: row.resultBytes,
    acknowledgedAt: row.acknowledgedAt,
  };
}
