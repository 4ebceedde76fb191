import type { JsonObject } from "../protocol/index.js";
import type { ConnectorOffer, GatewayConnector } from "./options.js";

/** What a connector has to offer for each method beyond discovery and tools. */
const NEEDS: ReadonlyMap<string, ConnectorOffer> = new Map([
  ["prompts/list", "prompts"],
  ["prompts/get", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resources"],
  ["resources/read", "resources"],
  ["completion/complete", "completions"],
  ["subscriptions/listen", "subscriptions"],
]);

export const OFFERS: readonly ConnectorOffer[] = ["completions", "prompts", "resources", "subscriptions"];

export function offersOf({ offers = [] }: GatewayConnector): ReadonlySet<ConnectorOffer> {
  return new Set(offers);
}

/** Whether a method is one of the connector's. Every method that needs no offer is. */
export function isOffered(connector: GatewayConnector, method: string): boolean {
  const need = NEEDS.get(method);
  return need === undefined || offersOf(connector).has(need);
}

/** The capabilities that a connector is discovered with. Source: 2026-07-28, Discovery. */
export function capabilitiesOf(connector: GatewayConnector): JsonObject {
  const offers = offersOf(connector);
  const listChanged = offers.has("subscriptions") ? { listChanged: true } : {};
  return {
    tools: listChanged,
    ...(offers.has("prompts") ? { prompts: listChanged } : {}),
    ...(offers.has("resources")
      ? { resources: offers.has("subscriptions") ? { ...listChanged, subscribe: true } : {} }
      : {}),
    ...(offers.has("completions") ? { completions: {} } : {}),
  };
}
