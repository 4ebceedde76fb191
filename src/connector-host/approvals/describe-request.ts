import type { ApprovalQuestion } from "../aggregation/index.js";
import type { ApprovalRequest } from "./ports.js";
import { quoted, shownJson } from "./quoted-text.js";

/** What a question alone does not say. */
export interface RequestFacts {
  readonly id: string;
  /** What the connector is called, as whoever made it wrote it. */
  readonly connectorName: string;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  readonly expiresAt: number;
}

const MAX_NAME = 128;
const MAX_TITLE = 256;
const MAX_ID = 256;
const MAX_ARGUMENTS = 4_096;

/** What people are shown of a question. Pure. */
export function describeRequest(
  { subject, binding, ...question }: ApprovalQuestion,
  facts: RequestFacts,
): ApprovalRequest {
  const { id, connectorName, requestedAt, expiresAt } = facts;
  const { text, bytes, omittedBytes } = shownJson(subject.argumentsText ?? "{}", MAX_ARGUMENTS);
  const account = binding.durable === undefined ? binding.login?.accountId : binding.durable.accountId;
  return Object.freeze({
    id,
    connectorKey: question.connectorKey,
    connectorName: quoted(connectorName, MAX_NAME),
    toolName: quoted(subject.nativeName, MAX_NAME),
    toolTitle: question.toolTitle === undefined ? undefined : quoted(question.toolTitle, MAX_TITLE),
    nativeName: subject.nativeName,
    argumentsText: text,
    argumentsBytes: subject.argumentsText === undefined ? 0 : bytes,
    omittedBytes,
    workspaceId: quoted(binding.workspaceId, MAX_ID),
    agentSessionId: quoted(binding.agentSessionId, MAX_ID),
    accountId: account === undefined ? undefined : quoted(account, MAX_ID),
    requestedAt,
    expiresAt,
  });
}
