export { type ApprovalOptions, type ApprovalSettings, resolveApprovalOptions } from "./approval-options.js";
export { CallApprovals } from "./call-approvals.js";
export type { ApprovalDecision, ApprovalRequest, Approve, OperatorApprovals } from "./ports.js";
