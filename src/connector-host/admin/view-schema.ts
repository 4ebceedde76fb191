import { z } from "zod";

const time = z.number().optional();
const count = z.int().nonnegative();

/** What may be done with a tool. */
export const permissionSchema = z.enum(["off", "ask", "allow"]);

export const rulesSchema = z.object({
  newTools: permissionSchema,
  permissions: z.record(z.string(), permissionSchema),
});

export const approvalSchema = z.object({
  id: z.string(),
  connectorKey: z.string(),
  connectorName: z.string(),
  toolName: z.string(),
  toolTitle: z.string().optional(),
  nativeName: z.string(),
  argumentsText: z.string(),
  omittedBytes: count,
  workspaceId: z.string(),
  agentSessionId: z.string(),
  accountId: z.string().optional(),
  requestedAt: z.number(),
  expiresAt: z.number(),
});

/** How far a request got. */
export const deliverySchema = z.enum(["not_sent", "answered", "unknown"]);

export const callSchema = z.object({
  id: z.string(),
  requestId: z.string(),
  attempt: count,
  kind: z.string(),
  connectorKey: z.string(),
  nativeName: z.string(),
  workspaceId: z.string().optional(),
  agentSessionId: z.string().optional(),
  durableName: z.string().optional(),
  startedAt: z.number(),
  endedAt: time,
  durationMs: time,
  state: z.string(),
  verdict: deliverySchema.optional(),
  errorCode: z.string().optional(),
  isError: z.boolean().optional(),
  argumentBytes: count,
  resultBytes: count.optional(),
  acknowledgedAt: time,
});

const tool = z.object({
  nativeName: z.string(),
  exposedName: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  permission: permissionSchema,
  isDecided: z.boolean(),
});

const connector = z.object({
  connectorKey: z.string(),
  kind: z.string(),
  displayName: z.string(),
  place: z.string(),
  version: z.string().optional(),
  candidateVersion: z.string().optional(),
  enabled: z.boolean(),
  paused: z.boolean(),
  state: z.string(),
  reason: z.string().optional(),
  since: time,
  nextAttemptAt: time,
  capabilities: z.array(z.string()),
  listing: z.enum(["live", "catalog"]),
  origin: z.string().optional(),
  signedIn: z.object({ account: z.string(), issuer: z.string() }).optional(),
  newTools: permissionSchema,
  tools: z.array(tool),
  catalog: z.object({ fetchedAt: time, isStale: z.boolean() }).optional(),
});

/** A view as it comes from another process. Members that this version doesn't know are left out. */
export const viewSchema = z.object({
  host: z.object({ name: z.string(), version: z.string() }),
  url: z.string(),
  accountId: z.string().optional(),
  connectors: z.array(connector),
  durableBindings: z.array(z.object({ name: z.string(), accountId: z.string().optional() })),
  agents: z.object({
    bindings: count,
    durableBindings: count,
    sessions: count,
    listeners: count,
    requests: count,
    heldCalls: count.optional(),
    pendingApprovals: count.optional(),
  }),
  approvals: z.array(approvalSchema),
  calls: z.array(callSchema).optional(),
});

export const testResultSchema = z.object({
  raw: z.string(),
  era: z.enum(["modern", "legacy"]),
  resultType: z.string().optional(),
  isError: z.boolean(),
  delivery: deliverySchema,
});

export const linkSchema = z.object({ url: z.string(), expiresAt: z.number() });

export const signInSchema = z.object({
  endpoint: z.string(),
  account: z.string(),
  issuer: z.string(),
  scopes: z.array(z.string()),
  expiresAt: time,
});
