import { RemoteConnectorError } from "../../errors.js";
import type { PermissionRules, ToolPermission } from "../registration/index.js";
import { managedCall } from "./managed-call.js";
import type { ManagedApproval, ManagedCall, ManagementView } from "./management-view.js";
import type {
  AdminHost,
  AdminLink,
  AdminVerbs,
  ApprovalDecision,
  CallQuery,
  ConnectorSwitches,
  ManagedSignIn,
  SignInRequest,
  TestCallRequest,
  TestCallResult,
} from "./ports.js";

/** The host as a person administers it, in its own process: no question is asked here, since whoever holds the host object may all. */
export class AdminPlane implements AdminVerbs {
  readonly #host: AdminHost;

  constructor(host: AdminHost) {
    this.#host = host;
  }

  view(): Promise<ManagementView> {
    return this.#host.view();
  }

  async permissions(connectorKey: string): Promise<PermissionRules> {
    return this.#host.connectors.permissions(connectorKey);
  }

  setPermission(connectorKey: string, nativeName: string, permission: ToolPermission | undefined): Promise<void> {
    return this.#host.connectors.setPermission(connectorKey, nativeName, permission);
  }

  setNewTools(connectorKey: string, permission: ToolPermission): Promise<void> {
    return this.#host.connectors.setNewTools(connectorKey, permission);
  }

  setEnabled(connectorKey: string, enabled: boolean): Promise<void> {
    return this.#host.connectors.setEnabled(connectorKey, enabled);
  }

  setRegistrationState(slug: string, state: "active" | "paused"): Promise<void> {
    return this.#host.connectors.registrations.setState(slug, state);
  }

  async signInServer({ slug, scopes, signal }: SignInRequest): Promise<ManagedSignIn> {
    const signedIn = await this.#host.connectors.accounts.signIn(slug, { scopes, signal });
    const { account, endpoint, expiresAt, issuer } = signedIn;
    return { account, endpoint, expiresAt, issuer, scopes: signedIn.scopes };
  }

  signOutServer(slug: string): Promise<boolean> {
    return this.#host.connectors.accounts.signOut(slug);
  }

  refresh(connectorKey?: string): Promise<void> {
    return this.#host.refresh(connectorKey);
  }

  async approvals(): Promise<readonly ManagedApproval[]> {
    return this.#host.approvalDesk.pending();
  }

  async decideApproval(id: string, decision: ApprovalDecision): Promise<void> {
    if (!this.#host.approvalDesk.decide(id, decision)) throw noApproval();
  }

  async calls(query: CallQuery = {}): Promise<readonly ManagedCall[]> {
    const rows = await this.#host.callDesk?.list(query);
    return rows?.map(managedCall) ?? [];
  }

  async acknowledgeCalls(ids: readonly string[]): Promise<number> {
    return (await this.#host.callDesk?.acknowledge(ids)) ?? 0;
  }

  testCall(request: TestCallRequest): Promise<TestCallResult> {
    return this.#host.testCall(request);
  }

  adminLink(): Promise<AdminLink> {
    return this.#host.adminLink();
  }

  /** The call that waits under this id. */
  approval(id: string): ManagedApproval | undefined {
    return this.#host.approvalDesk.pending().find((each) => each.id === id);
  }

  /** The switches of a connector; `undefined` for one that is not there. */
  switches(connectorKey: string): ConnectorSwitches | undefined {
    return this.#host.connectors.list().find((each) => each.connectorKey === connectorKey);
  }

  /** As {@link permissions}, at once. Throws `unknown_connector`. */
  rulesOf(connectorKey: string): PermissionRules {
    return this.#host.connectors.permissions(connectorKey);
  }
}

function noApproval(): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: "No call waits under this id: it was decided, or expired.",
    details: { argument: "id", reason: "not pending" },
  });
}
