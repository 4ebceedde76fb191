import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import type { HostStatus } from "./host-control.js";

const time = z.number().optional();
const count = z.int().nonnegative();
const gate = z.enum(["open", "closed"]);

/** Members that this version doesn't know are left out. */
const shape = z.object({
  host: z.object({ name: z.string(), version: z.string() }),
  processId: z.int().positive(),
  nodeVersion: z.string(),
  url: z.string(),
  login: z.object({ accountId: z.string(), generation: z.int() }).optional(),
  connectors: z.array(
    z.object({
      connectorKey: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      since: time,
      nextAttemptAt: time,
    }),
  ),
  // An older host has none of these.
  issues: z.array(z.object({ file: z.string(), member: z.string(), reason: z.string() })).default([]),
  gates: z.object({ account: gate, device: gate }).optional(),
  agents: z
    .object({ bindings: count, durableBindings: count, sessions: count, listeners: count, requests: count })
    .optional(),
});

/** Reads a host's answer. Throws `invalid_answer` (answered). */
export function parseHostStatus(body: Uint8Array): HostStatus {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw invalid("the body is no JSON", cause);
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw invalid(`${parsed.error.issues[0]?.path.join(".") ?? ""} is not what it should be`);
  const { login, connectors, gates, agents, ...rest } = parsed.data;
  return {
    ...rest,
    login,
    gates,
    agents,
    connectors: connectors.map(({ connectorKey, state, reason, since, nextAttemptAt }) => ({
      connectorKey,
      state,
      reason,
      since,
      nextAttemptAt,
    })),
  };
}

function invalid(reason: string, cause?: unknown): RemoteConnectorError<"invalid_answer"> {
  return new RemoteConnectorError("invalid_answer", {
    message: `The host's answer can't be read: ${reason}.`,
    delivery: "answered",
    details: { reason },
    cause,
  });
}
