import type { FlowRow } from "../../src/auth-projection/index.js";

/** The row of a flow that has just begun, with some of its members changed. */
export function flowRow(members: Partial<FlowRow> = {}): FlowRow {
  return {
    accountId: "acc",
    clientRequestId: "r",
    connectorKey: "github",
    connectorVersion: "1.0.0",
    replaces: false,
    priorConnectionId: undefined,
    sessionId: undefined,
    nextAction: undefined,
    state: "starting",
    connectionId: undefined,
    reason: undefined,
    errorCode: undefined,
    createdAt: 0,
    updatedAt: 0,
    ...members,
  };
}
