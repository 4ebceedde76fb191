import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import type { AdminVerbs, SignInRequest, TestCallRequest } from "./ports.js";
import {
  approvalSchema,
  callSchema,
  linkSchema,
  rulesSchema,
  signInSchema,
  testResultSchema,
  viewSchema,
} from "./view-schema.js";

/** How a request is to be made. */
export interface VerbSending {
  /** Whether it may be sent again after a connection that broke. */
  readonly isRepeatable: boolean;
  /** How long its answer may take, beside what a connection needs. */
  readonly extraMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks a host, and resolves to its result. Rejects with what it failed with. */
export type AskHost = (verb: string, params: object, sending: VerbSending) => Promise<unknown>;

const READ: VerbSending = { isRepeatable: true, extraMs: 0 };
/** What changes is sent once: after `unknown`, look what is the case. */
const CHANGE: VerbSending = { isRepeatable: false, extraMs: 0 };
const TEST_MS = 60_000;
/** A whole list of a server that has to be woken. */
const REFRESH_MS = 60_000;
/** How long a person may take. */
const SIGN_IN_MS = 900_000;

/** The verbs of a host of another process. What it answers is checked: `invalid_answer` (`answered`) for what can't be read. */
export function createAdminClient(ask: AskHost): AdminVerbs {
  const change = async (verb: string, params: object): Promise<void> => void (await ask(verb, params, CHANGE));
  return {
    view: async () => read(viewSchema, await ask("view", {}, READ)),
    permissions: async (connectorKey) => read(rulesSchema, await ask("permissions", { connectorKey }, READ)),
    setPermission: (connectorKey, nativeName, permission) =>
      change("set-permission", { connectorKey, nativeName, permission: permission ?? null }),
    setNewTools: (connectorKey, permission) => change("set-new-tools", { connectorKey, permission }),
    setEnabled: (connectorKey, enabled) => change("set-enabled", { connectorKey, enabled }),
    setRegistrationState: (slug, state) => change("set-registration-state", { slug, state }),
    async signInServer({ signal, ...request }: SignInRequest) {
      return read(signInSchema, await ask("sign-in-server", request, { ...CHANGE, extraMs: SIGN_IN_MS, signal }));
    },
    signOutServer: async (slug) => read(z.boolean(), await ask("sign-out-server", { slug }, CHANGE)),
    async refresh(connectorKey) {
      await ask("refresh", { connectorKey }, { ...CHANGE, extraMs: REFRESH_MS });
    },
    approvals: async () => read(z.array(approvalSchema), await ask("approvals", {}, READ)),
    decideApproval: (id, decision) => change("decide-approval", { id, decision }),
    calls: async (query = {}) => read(z.array(callSchema), await ask("calls", query, READ)),
    acknowledgeCalls: async (ids) => read(z.int(), await ask("acknowledge-calls", { ids }, CHANGE)),
    async testCall({ signal, ...request }: TestCallRequest) {
      const { timeoutMs = TEST_MS } = request;
      return read(testResultSchema, await ask("test-call", request, { ...CHANGE, extraMs: timeoutMs, signal }));
    },
    adminLink: async () => read(linkSchema, await ask("link", {}, CHANGE)),
  };
}

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  const reason = `${error?.issues[0]?.path.join(".") ?? ""} is not what it should be`;
  throw new RemoteConnectorError("invalid_answer", {
    message: `The host's answer can't be read: ${reason}.`,
    delivery: "answered",
    details: { reason },
  });
}
