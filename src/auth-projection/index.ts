export { type Random } from "./backoff.js";
export { type ChangePlanner } from "./change-planner.js";
export { chooseRelease, type ReleaseChoice, type ReleaseVersions } from "./choose-release.js";
export { systemWallClock, type WallClock } from "./clock.js";
export { type ApplyReason } from "./decide-apply.js";
export { effectiveRow, type Observation } from "./decide-overlay.js";
export { forgetAccount, isForgotten } from "./forget-account.js";
export {
  type AuthorizationFlowsOptions,
  AuthorizationFlows,
  type AuthorizationResult,
  type AuthorizationSession,
  type AuthorizationStart,
  type AuthorizeOptions,
  type DisconnectResult,
  FlowClient,
  type FlowClientOptions,
  type FlowConvergence,
  type FlowSessions,
  type FlowSync,
  type KnownSession,
  type NextAction,
  pruneFlows,
  type RouteOutcome,
  type SessionRequest,
  type SessionStatus,
} from "./flows/index.js";
export { type HoldReason, type ProjectionDiagnostic } from "./diagnostic.js";
export { type HintEvent, HintListener, type HintListenerOptions, parseHintUrl } from "./hint-listener.js";
export { type HintSocket, type HintSocketOwner, type HintSocketRequest, type OpenHintSocket } from "./hint-socket.js";
export { isConnectorKey } from "./identifiers.js";
export { type AccountAuthorizer, type Login, LoginGuard } from "./login.js";
export { parseSnapshot, type Snapshot, type SnapshotEntry } from "./parse-snapshot.js";
export {
  type AccountSyncRow,
  type AppliedSnapshot,
  type AuthorizationState,
  type FlowReason,
  type FlowRow,
  type FlowRows,
  type FlowState,
  type HoldStreak,
  type OverlayRow,
  type OverlayRows,
  type ProjectionRow,
  type ProjectionRows,
  type ProjectionTx,
  type QuarantineReason,
  type UnitOfWork,
} from "./ports.js";
export { Readiness } from "./readiness.js";
export { resetProjection } from "./reset-projection.js";
export { SnapshotClient, type SnapshotClientOptions, type SnapshotSource, snapshotUrl } from "./snapshot-client.js";
export { type SnapshotSyncOptions } from "./snapshot-sync-options.js";
export { SnapshotSync, type WakeOptions } from "./snapshot-sync.js";
export { type SyncedSnapshot, type SyncEvent, type SyncState } from "./sync-event.js";
