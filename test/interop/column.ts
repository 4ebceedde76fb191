/** What is tried with each server, in order. */
export const COLUMNS = [
  "connect",
  "tools",
  "resources",
  "prompts",
  "call",
  "progress",
  "cancel",
  "read",
  "notify",
  "elicit",
  "close",
] as const;

export type Column = (typeof COLUMNS)[number];

/** How one thing went with one server. Times are in milliseconds. */
export type Cell =
  | { readonly kind: "ok"; readonly ms: number }
  /** By what the server declares, or by the revision. */
  | { readonly kind: "cannot"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string; readonly ms: number };
