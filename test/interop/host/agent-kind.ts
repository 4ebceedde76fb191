/** One way for an agent to be made. */
export interface AgentKind {
  /** Whose client it is. */
  readonly client: "client" | "sdk";
  readonly revision: "2026-07-28" | "2025-11-25";
  readonly transport: "HTTP" | "stdio";
}

export const AGENT_KINDS: readonly AgentKind[] = [
  { client: "client", revision: "2026-07-28", transport: "HTTP" },
  { client: "client", revision: "2025-11-25", transport: "HTTP" },
  { client: "sdk", revision: "2025-11-25", transport: "HTTP" },
  { client: "client", revision: "2026-07-28", transport: "stdio" },
  { client: "client", revision: "2025-11-25", transport: "stdio" },
  { client: "sdk", revision: "2025-11-25", transport: "stdio" },
];
