/** The one path of the socket. */
export const AGENT_PATH = "/mcp";

/** The header in which a request names its durable binding. */
export const BINDING_HEADER = "Connector-Binding";
