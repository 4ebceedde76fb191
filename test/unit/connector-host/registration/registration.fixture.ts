/** A registration as its file holds it, as plain data. */
export function storedRegistration(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: ID,
    ...requested(),
    state: "active",
    newTools: "off",
    permissions: { search: "allow", write: "ask", drop: "off" },
    ...changes,
  };
}

/** What a person says to register it. */
export function requested(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    slug: "docs",
    displayName: "Docs of the team",
    settings: {
      endpoint: "https://docs.example/mcp?team=1",
      headers: { Authorization: ["Bearer ", { secret: "docs.token" }], "X-Team": "blue" },
      protocol: "auto",
    },
    deadlines: { totalTimeoutMs: 60_000 },
    capabilities: ["tools", "resources"],
    descriptions: { search: { description: "Finds pages.", properties: { q: "Words" } } },
    ...changes,
  };
}

export const ID = "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11";

/** A copy with one more member: an own one, also when it is called `__proto__`. */
export function withMember(base: object, name: string, value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...base };
  Object.defineProperty(copy, name, { value, enumerable: true });
  return copy;
}
