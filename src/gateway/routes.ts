/** A path of the public side that is an account's. */
export type AccountRoute =
  | { readonly kind: "begin_session" | "connector" | "disconnect"; readonly connectorId: string }
  | { readonly kind: "complete_session" | "session"; readonly sessionId: string }
  | { readonly kind: "events" | "snapshot" };

/** What a path of the public side means. */
export type Route =
  | AccountRoute
  | { readonly kind: "callback"; readonly connectorId: string }
  | { readonly kind: "unknown" };

/** The methods of each, the first of which is named first. */
export const ROUTE_METHODS: Readonly<Record<Route["kind"], readonly string[]>> = {
  begin_session: ["POST"],
  callback: ["GET"],
  complete_session: ["POST"],
  connector: ["POST"],
  disconnect: ["DELETE"],
  events: ["GET"],
  session: ["GET", "DELETE"],
  snapshot: ["GET"],
  unknown: [],
};

/** Where browsers come back to from the authorization server of a connector. */
export function callbackPath(connectorId: string): string {
  return `/v1/connector-authorizations/callback/${connectorId}`;
}

const FIXED: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/v1/connector-authorizations/snapshot", { kind: "snapshot" }],
  ["/v1/events", { kind: "events" }],
]);

const CONNECTOR = /^\/v1\/connectors\/([^/]+)\/(authorization-sessions|authorization|mcp)$/;
const CALLBACK = /^\/v1\/connector-authorizations\/callback\/([^/]+)$/;
const SESSION = /^\/v1\/connector-authorization-sessions\/([^/]+)(\/complete)?$/;

const CONNECTOR_KINDS = {
  authorization: "disconnect",
  "authorization-sessions": "begin_session",
  mcp: "connector",
} as const;

/** Reads the target of a request. Queries are ignored. Pure; never throws. */
export function readRoute(target: string | undefined): Route {
  const [path = ""] = (target ?? "").split("?");
  const fixed = FIXED.get(path);
  if (fixed !== undefined) return fixed;
  const connector = CONNECTOR.exec(path);
  const connectorId = decode(connector?.[1]);
  const what = connector?.[2];
  if (connectorId !== undefined && isConnectorPart(what)) return { kind: CONNECTOR_KINDS[what], connectorId };
  const returned = decode(CALLBACK.exec(path)?.[1]);
  if (returned !== undefined) return { kind: "callback", connectorId: returned };
  const session = SESSION.exec(path);
  const sessionId = decode(session?.[1]);
  if (sessionId === undefined) return { kind: "unknown" };
  return { kind: session?.[2] === undefined ? "session" : "complete_session", sessionId };
}

function isConnectorPart(value: string | undefined): value is keyof typeof CONNECTOR_KINDS {
  return value !== undefined && Object.hasOwn(CONNECTOR_KINDS, value);
}

function decode(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
