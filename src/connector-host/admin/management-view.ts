import type { Delivery } from "../../errors.js";
import type { ToolPermission } from "../registration/index.js";

/** A tool of a connector, as it was listed last, or as somebody decided about it. */
export interface ManagedTool {
  /** The name that its server has for it. */
  readonly nativeName: string;
  /** The name that agents know it by; absent for one that is not listed. */
  readonly exposedName?: string | undefined;
  readonly title?: string | undefined;
  /** Its server's own words, at most 1,024 characters of them. */
  readonly description?: string | undefined;
  /** What may be done with it in effect, the host's globs included. */
  readonly permission: ToolPermission;
  /** Whether somebody decided about this very tool. */
  readonly isDecided: boolean;
}

/** The list that a connector's tools come from. */
export interface ManagedCatalog {
  /** Epoch milliseconds; absent where that is not noted. */
  readonly fetchedAt?: number | undefined;
  /** Whether its tools are shown although their server can't be asked now. */
  readonly isStale: boolean;
}

/** A connector, with all that a person decides by. Times are epoch milliseconds; absent members: there is nothing to say. */
export interface ManagedConnector {
  readonly connectorKey: string;
  readonly kind: string;
  readonly displayName: string;
  /** Says to people where it is defined. */
  readonly place: string;
  readonly version?: string | undefined;
  /** Of the release that it is updated to. */
  readonly candidateVersion?: string | undefined;
  /** Its switch. */
  readonly enabled: boolean;
  /** A definition that is paused does not run, whatever the switch. */
  readonly paused: boolean;
  /** A `ConnectorState`. */
  readonly state: string;
  readonly reason?: string | undefined;
  readonly since?: number | undefined;
  readonly nextAttemptAt?: number | undefined;
  /** What it is opened for. */
  readonly capabilities: readonly string[];
  /** Whether its list is asked for anew each time, or served from the last full one. */
  readonly listing: "live" | "catalog";
  /** The origin of its server, where that is known. */
  readonly origin?: string | undefined;
  /** Who is signed in to its server by OAuth, as `settings.oauth` names it, and where. Absent: nobody is. */
  readonly signedIn?: { readonly account: string; readonly issuer: string } | undefined;
  /** What may be done with tools about which nobody decided. */
  readonly newTools: ToolPermission;
  /** By native name. */
  readonly tools: readonly ManagedTool[];
  /** Absent: nothing was listed yet. */
  readonly catalog?: ManagedCatalog | undefined;
}

/**
 * A call that waits for a person. What an agent or a server wrote is in quotes, bounded, on one line, and with what can't be seen written
 * out.
 */
export interface ManagedApproval {
  readonly id: string;
  readonly connectorKey: string;
  readonly connectorName: string;
  readonly toolName: string;
  readonly toolTitle?: string | undefined;
  /** The name that its server has for the tool, exactly: for programs, not to be shown. */
  readonly nativeName: string;
  /** The beginning of the arguments, as JSON. */
  readonly argumentsText: string;
  /** Bytes of the arguments that are not in `argumentsText`. */
  readonly omittedBytes: number;
  readonly workspaceId: string;
  readonly agentSessionId: string;
  readonly accountId?: string | undefined;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  readonly expiresAt: number;
}

/** One attempt of a request that was written down before it was sent. Times are epoch milliseconds. */
export interface ManagedCall {
  /** Later ones have greater texts. */
  readonly id: string;
  /** That of the first attempt of the same request. */
  readonly requestId: string;
  readonly attempt: number;
  /** What was asked for; `test`: a person's own call. */
  readonly kind: string;
  readonly connectorKey: string;
  /** The name that its server has for it; of a resource, its URI without what may be secret. */
  readonly nativeName: string;
  readonly workspaceId?: string | undefined;
  readonly agentSessionId?: string | undefined;
  readonly durableName?: string | undefined;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** `running`, `superseded` or `ended`. */
  readonly state: string;
  /** How far it got, once it has ended. */
  readonly verdict?: Delivery | undefined;
  readonly errorCode?: string | undefined;
  /** `isError` of its result. */
  readonly isError?: boolean | undefined;
  readonly argumentBytes: number;
  readonly resultBytes?: number | undefined;
  /** When a person took note that nobody knows what became of it. */
  readonly acknowledgedAt?: number | undefined;
}

/**
 * A host as a person sees it: plain data, that holds neither a secret nor anything that can be called. Each part is bounded by what
 * bounds it in the host.
 */
export interface ManagementView {
  readonly host: { readonly name: string; readonly version: string };
  /** The endpoint of its local server. */
  readonly url: string;
  readonly accountId?: string | undefined;
  /** By key. */
  readonly connectors: readonly ManagedConnector[];
  /** By name. Their bearers are nowhere in the host. */
  readonly durableBindings: readonly { readonly name: string; readonly accountId?: string | undefined }[];
  readonly agents: {
    readonly bindings: number;
    readonly durableBindings: number;
    readonly sessions: number;
    readonly listeners: number;
    readonly requests: number;
    readonly heldCalls?: number | undefined;
    readonly pendingApprovals?: number | undefined;
  };
  /** In the order in which they came. */
  readonly approvals: readonly ManagedApproval[];
  /** The last 20, the latest first. Absent: this host does not write calls down. */
  readonly calls?: readonly ManagedCall[] | undefined;
}
