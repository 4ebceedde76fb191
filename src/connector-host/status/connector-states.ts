/** What a connector is at, as people see it. */
export type ConnectorState =
  | "not_installed"
  | "disabled"
  | "authorization_required"
  | "starting"
  | "ready"
  | "degraded"
  | "offline"
  | "failed";

/** Every state, and how soon a person should hear of it: the smaller, the sooner. */
const URGENCY: Readonly<Record<ConnectorState, number>> = {
  failed: 0,
  authorization_required: 1,
  offline: 2,
  degraded: 3,
  starting: 4,
  disabled: 5,
  not_installed: 6,
  ready: 7,
};

/** The state that a word stands for. One that this version doesn't know reads `offline`. */
export function readConnectorState(word: string): ConnectorState {
  return isConnectorState(word) ? word : "offline";
}

/** Sorts the states that people should hear of first to the front. */
export function compareUrgency(a: ConnectorState, b: ConnectorState): number {
  return URGENCY[a] - URGENCY[b];
}

function isConnectorState(word: string): word is ConnectorState {
  return Object.hasOwn(URGENCY, word);
}
