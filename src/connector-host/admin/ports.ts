import type { Delivery } from "../../errors.js";
import type { PermissionRules, ToolPermission } from "../registration/index.js";
import type { ManagedApproval, ManagedCall, ManagementView } from "./management-view.js";

/** A tool call that a person makes, to see what the tool does. */
export interface TestCallRequest {
  readonly connectorKey: string;
  /** The name that its server has for it. */
  readonly nativeName: string;
  /** The text of a JSON object, at most 256 KiB. `{}` when left out. */
  readonly argumentsText?: string | undefined;
  /** How long it may take in all. 60,000 when left out. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a tool answered to a person's own call. */
export interface TestCallResult {
  /** The server's result object, as it wrote it. */
  readonly raw: string;
  readonly era: "modern" | "legacy";
  /** The result's own `resultType`; `input_required`: the server wants to know more, and nobody is asked. */
  readonly resultType?: string | undefined;
  /** Whether the result says of itself that it is an error. */
  readonly isError: boolean;
  /** `answered`. A call without an answer rejects, and its error says how far it got. */
  readonly delivery: Delivery;
}

/** A link that opens the status page once. */
export interface AdminLink {
  /** It holds a secret: whoever opens it first administers the host in their browser. */
  readonly url: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Who is signed in to a registered server. */
export interface ManagedSignIn {
  readonly endpoint: string;
  /** The registration's own name for it. */
  readonly account: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Epoch milliseconds; `undefined`: nobody knows. */
  readonly expiresAt?: number | undefined;
}

/** How a person is signed in. */
export interface SignInRequest {
  readonly slug: string;
  /** Scopes to ask for beside those of the registration and of the server. */
  readonly scopes?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which requests are wanted. */
export interface CallQuery {
  /** Only what is older than this id. */
  readonly before?: string | undefined;
  readonly connectorKey?: string | undefined;
  readonly verdict?: Delivery | undefined;
  /** At most so many, up to 1,000. 100 when left out. */
  readonly limit?: number | undefined;
}

/** What is decided about a call that waits. */
export type ApprovalDecision = "approve" | "deny";

/**
 * What a person administers a host by, wherever they are: in its process, over the control socket, on the status page. Each method
 * rejects with a `RemoteConnectorError`; an unsuccessful change changed nothing, unless its own text says otherwise.
 */
export interface AdminVerbs {
  /** Everything that there is to see, and nothing that could be called. */
  view(): Promise<ManagementView>;
  /** Rejects with `unknown_connector`. */
  permissions(connectorKey: string): Promise<PermissionRules>;
  /** Decides about one tool; `undefined`: what its definition says. Rejects as the host's `connectors.setPermission` does. */
  setPermission(connectorKey: string, nativeName: string, permission: ToolPermission | undefined): Promise<void>;
  /** Decides about all tools that have no permission of their own. */
  setNewTools(connectorKey: string, permission: ToolPermission): Promise<void>;
  /** Turns a connector's switch. Rejects with `unknown_connector`. */
  setEnabled(connectorKey: string, enabled: boolean): Promise<void>;
  /** Pauses a registration, or lets it run. Rejects with `unknown_connector`, and with `invalid_argument` for one of the configuration. */
  setRegistrationState(slug: string, state: "active" | "paused"): Promise<void>;
  /**
   * Has a person sign in to a registered server, in the browser of the machine that the host is on. Resolves when they have; rejects as
   * the host's `connectors.accounts.signIn` does.
   */
  signInServer(request: SignInRequest): Promise<ManagedSignIn>;
  /** Forgets the tokens of a registered server, whose route goes at once. Answers whether there were any. */
  signOutServer(slug: string): Promise<boolean>;
  /** Asks the control plane for the account's authorization now; of a connector, has its catalog read anew. Rejects as that does. */
  refresh(connectorKey?: string): Promise<void>;
  /** Calls that wait for a person, the oldest first. */
  approvals(): Promise<readonly ManagedApproval[]>;
  /** Decides about one. Rejects with `invalid_argument` for one that does not wait any more. */
  decideApproval(id: string, decision: ApprovalDecision): Promise<void>;
  /** The last requests, the latest first. None on a host that does not write them down. */
  calls(query?: CallQuery): Promise<readonly ManagedCall[]>;
  /** Takes note of requests of which nobody knows what became. Answers how many of these were such. */
  acknowledgeCalls(ids: readonly string[]): Promise<number>;
  /**
   * Calls a tool by a person's own authority: whatever its permission is, which stays as it is. The connector has to be switched on and
   * to have a route. It is sent once at most, never again for any reason, and nobody is asked in the midst of it.
   *
   * Rejects with `invalid_argument`, `unknown_tool`, `route_unavailable`, and as calls of the connector's client do; `delivery` says
   * how far it got.
   */
  testCall(request: TestCallRequest): Promise<TestCallResult>;
  /** Makes a link that opens the status page once, within two minutes. */
  adminLink(): Promise<AdminLink>;
}

/** Calls that wait for a person. */
export interface ApprovalDesk {
  pending(): readonly ManagedApproval[];
  /** Whether it waited. */
  decide(id: string, decision: ApprovalDecision): boolean;
}

/** Requests that were written down. */
export interface CallDesk {
  /** The latest first. */
  list(query: CallQuery): Promise<readonly ManagedCall[]>;
  /** Answers how many of them nobody had acknowledged. */
  acknowledge(ids: readonly string[]): Promise<number>;
}

/** Whether a connector runs, and what it is that would. */
export interface ConnectorSwitches {
  readonly connectorKey: string;
  readonly kind: string;
  readonly enabled: boolean;
  readonly paused: boolean;
  /** Of its release, or of its settings. */
  readonly digest: string | undefined;
}

/** What the admin plane asks of its host. */
export interface AdminHost {
  readonly connectors: {
    permissions(key: string): PermissionRules;
    setPermission(key: string, nativeName: string, permission: ToolPermission | undefined): Promise<void>;
    setNewTools(key: string, permission: ToolPermission): Promise<void>;
    setEnabled(key: string, enabled: boolean): Promise<void>;
    list(): readonly ConnectorSwitches[];
    readonly registrations: { setState(slug: string, state: "active" | "paused"): Promise<void> };
    readonly accounts: {
      signIn(slug: string, options: Omit<SignInRequest, "slug">): Promise<ManagedSignIn>;
      signOut(slug: string): Promise<boolean>;
    };
  };
  view(): Promise<ManagementView>;
  refresh(connectorKey: string | undefined): Promise<void>;
  testCall(request: TestCallRequest): Promise<TestCallResult>;
  adminLink(): Promise<AdminLink>;
  readonly approvalDesk: ApprovalDesk;
  /** `undefined`: calls are not written down. */
  readonly callDesk: CallDesk | undefined;
}
