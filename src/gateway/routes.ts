/** What a path of the public side means. */
export type Route =
  | { readonly kind: "connector"; readonly connectorId: string; readonly method: "POST" }
  | { readonly kind: "snapshot"; readonly method: "GET" }
  | { readonly kind: "events"; readonly method: "GET" }
  | { readonly kind: "unknown" };

const CONNECTOR = /^\/v1\/connectors\/([^/]+)\/mcp$/;

/** Reads the target of a request. Queries are ignored. Pure; never throws. */
export function readRoute(target: string | undefined): Route {
  const [path = ""] = (target ?? "").split("?");
  if (path === "/v1/connector-authorizations/snapshot") return { kind: "snapshot", method: "GET" };
  if (path === "/v1/events") return { kind: "events", method: "GET" };
  const connectorId = decode(CONNECTOR.exec(path)?.[1]);
  return connectorId === undefined ? { kind: "unknown" } : { kind: "connector", connectorId, method: "POST" };
}

function decode(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
