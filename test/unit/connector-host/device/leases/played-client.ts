import type { McpClient } from "../../../../../src/connect/index.js";

/** A client whose members are these, and that does nothing else. */
export function playedClient(parts: Readonly<Record<string, unknown>>): McpClient {
  const nothing = (): Promise<never> => new Promise(() => undefined);
  return new Proxy<McpClient>(Object.create(null), {
    get: (_, name) => (name === "then" ? undefined : (parts[String(name)] ?? nothing)),
  });
}
