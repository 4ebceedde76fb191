import { countOption, durationOption } from "../../options.js";
import { RemoteConnectorError } from "../../errors.js";
import {
  AdminPlane,
  managedCall,
  type AdminHost,
  type ManagementView,
  type TestCallRequest,
  type TestCallResult,
} from "../admin/index.js";
import type { AdminWeb } from "../admin-web/index.js";
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
  readonly web: AdminWeb;
  readonly url: () => string;
}

const TEST_MS = 60_000;
/** Of requests in a view. */
const SHOWN_CALLS = 20;
const NO_AGENTS = { bindings: 0, durableBindings: 0, sessions: 0, listeners: 0, requests: 0 };

/** The admin plane of a host. */
export function createPlane(parts: HostParts, context: PlaneContext): AdminPlane {
  const { connectors, served, web } = context;
  const scopes = (): readonly string[] => {
    const scope = parts.session?.scope;
    return scope === undefined ? [DEVICE_SCOPE] : [DEVICE_SCOPE, scope];
  };
  const host: AdminHost = {
    connectors,
    approvalDesk: parts.approvals.operator,
    callDesk: parts.journal?.reader,
    adminLink: () => web.open(),
    testCall: (request) => testCall(parts, served(), scopes(), request),
    view: () => readView(parts, context, scopes()),
    async refresh(connectorKey) {
      if (connectorKey === undefined) parts.session?.sync.wake();
      else await connectors.refresh(connectorKey);
    },
  };
  return new AdminPlane(host);
}

async function testCall(
  { catalog, config }: HostParts,
  served: ServedAgents | undefined,
  scopes: readonly string[],
  request: TestCallRequest,
): Promise<TestCallResult> {
  if (served === undefined) throw hostClosed();
  const { connectorKey, nativeName, argumentsText = "{}", signal = new AbortController().signal } = request;
  if (catalog.get(connectorKey) === undefined) throw unknownConnector(connectorKey);
  const timeoutMs = durationOption("timeoutMs", request.timeoutMs, TEST_MS);
  const limit = countOption("maxArgumentsBytes", config.localServer.maxArgumentsBytes, 256 * 1024);
  if (Buffer.byteLength(argumentsText, "utf8") > limit) throw tooLarge(limit);
  const answer = await served.people.testCall(scopes, { connectorKey, nativeName, argumentsText, signal, timeoutMs });
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
    // It was removed meanwhile.
    if (entry === undefined || rules === undefined) continue;
    managed.push(
      manageConnector({
        listed,
        status: rows.get(connectorKey),
        traits: describeTraits(entry, config.contracts),
        rules,
        permissionOf: (nativeName) => permissions.ofTool(connectorKey, nativeName),
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
