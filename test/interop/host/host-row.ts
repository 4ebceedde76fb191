import type { Cell } from "../column.js";
import type { AgentKind } from "./agent-kind.js";
import { TRIAL_NAMES } from "./trials.js";
import type { Upstream } from "./upstream.js";

/** What is filled for each agent with each server, in order. */
export const HOST_COLUMNS = ["connect", ...TRIAL_NAMES, "close"] as const;

export type HostColumn = (typeof HOST_COLUMNS)[number];

/** One agent with one server. */
export interface HostRow {
  readonly agent: AgentKind;
  readonly upstream: Upstream;
  readonly cells: Readonly<Record<HostColumn, Cell>>;
}
