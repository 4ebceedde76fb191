import { countOption, durationOption, refuseUnknownOptions } from "../../options.js";
import { RemoteConnectorError } from "../../errors.js";
import {
  AdminPlane,
  managedCall,
  type AdminHost,
  type ManagementView,
  type TestCallRequest,
  type TestCallResult,
} from "../admin/index.js";
import { AdminWeb } from "../admin-web/index.js";
import type { DurableBinding } from "../local-server/index.js";
import { DEVICE_SCOPE } from "./account-scope.js";
import type { ConnectorAdmin } from "./connector-admin.js";
import { describeTraits } from "./describe-traits.js";
import { hostClosed, unknownConnector } from "./host-errors.js";
import type { HostParts } from "./host-parts.js";
import { manageBindings, manageConnector } from "./read-management-view.js";
import type { ServedAgents } from "./serve-agents.js";

/** What the admin plane of a host needs beside its parts. */
export interface PlaneContext {
  readonly connectors: ConnectorAdmin;
  /** `undefined` while the host starts, and when it is closed. */
  readonly served: () => ServedAgents | undefined;
  readonly durableBindings: () => readonly DurableBinding[];
  readonly url: () => string;
  /** Fires when the host closes. */
  readonly ended: AbortSignal;
}

const TEST_MS = 60_000;
const TEST_MEMBERS = [
  "connectorKey",
  "nativeName",
  "argumentsText",
  "timeoutMs",
  "signal",
] as const satisfies readonly (keyof TestCallRequest)[];
/** Of requests in a view. */
const SHOWN_CALLS = 20;
const NO_AGENTS = { bindings: 0, durableBindings: 0, sessions: 0, listeners: 0, requests: 0 };

/** The admin plane of a host, and the same in a browser, which listens once it is asked for a link. */
export function createPlane(
  parts: HostParts,
  context: PlaneContext,
): { readonly admin: AdminPlane; readonly web: AdminWeb } {
  const { connectors } = context;
  const { clock, logger, wallClock } = parts.config;
  const onFault = (error: unknown): void => logger.error("A fault of the admin plane.", { error });
  const web: AdminWeb = new AdminWeb({ plane: () => admin, clock, wallClock, onFault });
  const scopes = (): readonly string[] => {
    const scope = parts.session?.scope;
    return scope === undefined ? [DEVICE_SCOPE] : [DEVICE_SCOPE, scope];
  };
  const host: AdminHost = {
    connectors,
    approvalDesk: parts.approvals.operator,
    callDesk: parts.journal?.reader,
    adminLink: () => web.open(),
    testCall: (request) => testCall(parts, context, scopes(), request),
    view: () => readView(parts, context, scopes()),
    async refresh(connectorKey) {
      if (connectorKey === undefined) parts.session?.sync.wake();
      else await connectors.refresh(connectorKey);
    },
  };
  const admin = new AdminPlane(host);
  return { admin, web };
}

async function testCall(
  { catalog, config }: HostParts,
  { served, ended }: PlaneContext,
  scopes: readonly string[],
  request: TestCallRequest,
): Promise<TestCallResult> {
  const server = served();
  if (server === undefined) throw hostClosed();
  refuseUnknownOptions(request, TEST_MEMBERS);
  const { connectorKey, nativeName, argumentsText = "{}", signal = new AbortController().signal } = request;
  if (catalog.get(connectorKey) === undefined) throw unknownConnector(connectorKey);
  const timeoutMs = durationOption("timeoutMs", request.timeoutMs, TEST_MS);
  const limit = countOption("maxArgumentsBytes", config.localServer.maxArgumentsBytes, 256 * 1024);
  if (Buffer.byteLength(argumentsText, "utf8") > limit) throw tooLarge(limit);
  const test = { connectorKey, nativeName, argumentsText, signal, ended, timeoutMs };
  const answer = await server.people.testCall(scopes, test);
  const { era, isError, raw, resultType } = answer;
  return { raw: Buffer.from(raw).toString("utf8"), era, resultType, isError, delivery: "answered" };
}

async function readView(parts: HostParts, context: PlaneContext, scopes: readonly string[]): Promise<ManagementView> {
  const { approvals, catalog, config, journal, permissions, session, statuses } = parts;
  const { connectors, durableBindings, served, url } = context;
  const rows = new Map((await statuses.all(session?.scope)).map((status) => [status.connectorKey, status]));
  const server = served();
  const managed: ManagementView["connectors"][number][] = [];
  for (const listed of connectors.list()) {
    const { connectorKey } = listed;
    const known = await server?.people.knownTools(scopes, connectorKey);
    const entry = catalog.get(connectorKey);
    const rules = parts.rules.rulesOf(connectorKey);
    const signedIn = await connectors.accounts.find(connectorKey);
    // It was removed meanwhile.
    if (entry === undefined || rules === undefined) continue;
    managed.push(
      manageConnector({
        listed,
        status: rows.get(connectorKey),
        traits: describeTraits(entry, config.contracts),
        rules,
        permissionOf: (nativeName) => permissions.ofTool(connectorKey, nativeName),
        signedIn,
        known,
      }),
    );
  }
  const { name, version } = config.hostInfo;
  return {
    host: { name, version },
    url: url(),
    accountId: parts.logins.current?.accountId,
    connectors: managed,
    durableBindings: manageBindings(durableBindings()),
    agents: server?.counts ?? NO_AGENTS,
    approvals: approvals.operator.pending(),
    calls: (await journal?.reader.list({ limit: SHOWN_CALLS }))?.map(managedCall),
  };
}

function tooLarge(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `The arguments have more than ${String(limit)} bytes (maxArgumentsBytes).`,
    details: { option: "maxArgumentsBytes", limit },
  });
}
