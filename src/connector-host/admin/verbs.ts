import { z } from "zod";
import type { AdminPlane } from "./admin-plane.js";
import { questionOf } from "./questions.js";
import { deliverySchema, permissionSchema } from "./view-schema.js";

/** A verb with what it is to be done with, read and checked. */
export interface PreparedVerb {
  /** What a person has to say yes to first; `undefined`: nothing. Throws `unknown_connector`. */
  question(): string | undefined;
  /** Does it. Begins at once, so that what `question` said holds for what is done. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Everything that a person's answer is about, as JSON: the parameters, and what they are about as it is now. */
  readonly text: string;
}

/** One thing that can be asked for. */
export interface AdminVerb {
  /** `read`: it changes nothing, and may be asked again. */
  readonly kind: "read" | "change";
  /** Whether it is there on the control socket alone. */
  readonly isSocketOnly: boolean;
  /** Reads the parameters; `undefined` for what they may not be. */
  prepare(plane: AdminPlane, params: unknown): PreparedVerb | undefined;
}

interface VerbDefinition<P> {
  readonly kind: AdminVerb["kind"];
  readonly isSocketOnly?: boolean;
  readonly params: z.ZodType<P>;
  readonly question?: (plane: AdminPlane, params: P) => string | undefined;
  /** What else has to be the same when an answer comes as when the question was asked. */
  readonly subject?: (plane: AdminPlane, params: P) => string | undefined;
  readonly run: (plane: AdminPlane, params: P, signal: AbortSignal) => Promise<unknown>;
}

function verb<P>({ kind, isSocketOnly = false, params: shape, ...define }: VerbDefinition<P>): AdminVerb {
  const { question, run, subject } = define;
  return {
    kind,
    isSocketOnly,
    prepare(plane, given) {
      const read = shape.safeParse(given);
      if (!read.success) return undefined;
      const { data } = read;
      return {
        question: () => question?.(plane, data),
        run: (signal) => run(plane, data, signal),
        text: JSON.stringify([data, subject?.(plane, data)]),
      };
    },
  };
}

const name = z.string().min(1).max(1_024);
const nothing = z.strictObject({});
const MAX_CALLS = 1_000;
const MAX_IDS = 1_000;
const MAX_SCOPES = 64;
const MAX_TEST_MS = 3_600_000;

/** Everything that can be asked of the admin plane, by its name on the wire. A name that is not here is not there. */
export const ADMIN_VERBS: ReadonlyMap<string, AdminVerb> = new Map([
  ["view", verb({ kind: "read", params: nothing, run: (plane) => plane.view() })],
  [
    "permissions",
    verb({
      kind: "read",
      params: z.strictObject({ connectorKey: name }),
      run: (plane, { connectorKey }) => plane.permissions(connectorKey),
    }),
  ],
  [
    "set-permission",
    verb({
      kind: "change",
      params: z.strictObject({ connectorKey: name, nativeName: name, permission: permissionSchema.nullable() }),
      question: (plane, { connectorKey, nativeName, permission }) =>
        questionOf({
          kind: "permission",
          connectorKey,
          nativeName,
          permission: permission ?? undefined,
          present: plane.rulesOf(connectorKey),
        }),
      run: (plane, { connectorKey, nativeName, permission }) =>
        plane.setPermission(connectorKey, nativeName, permission ?? undefined),
    }),
  ],
  [
    "set-new-tools",
    verb({
      kind: "change",
      params: z.strictObject({ connectorKey: name, permission: permissionSchema }),
      question: (plane, { connectorKey, permission }) =>
        questionOf({ kind: "new_tools", connectorKey, permission, present: plane.rulesOf(connectorKey) }),
      run: (plane, { connectorKey, permission }) => plane.setNewTools(connectorKey, permission),
    }),
  ],
  [
    "set-enabled",
    verb({
      kind: "change",
      params: z.strictObject({ connectorKey: name, enabled: z.boolean() }),
      question(plane, { connectorKey, enabled }) {
        const isEnabled = plane.switches(connectorKey)?.enabled ?? true;
        return questionOf({ kind: "enable", connectorKey, enabled, isEnabled });
      },
      subject: (plane, { connectorKey }) => plane.switches(connectorKey)?.digest,
      run: (plane, { connectorKey, enabled }) => plane.setEnabled(connectorKey, enabled),
    }),
  ],
  [
    "set-registration-state",
    verb({
      kind: "change",
      params: z.strictObject({ slug: name, state: z.enum(["active", "paused"]) }),
      question(plane, { slug, state }) {
        const isPaused = plane.switches(slug)?.paused ?? false;
        return questionOf({ kind: "activate", slug, state, isPaused });
      },
      subject: (plane, { slug }) => plane.switches(slug)?.digest,
      async run(plane, { slug, state }) {
        // Nobody was asked about one that runs: a pause that waits for its turn must not be followed by this.
        const { kind, paused } = plane.switches(slug) ?? {};
        if (state === "active" && kind === "registration" && paused === false) return;
        await plane.setRegistrationState(slug, state);
      },
    }),
  ],
  // No question: the browser asks the person, who must be there for it.
  [
    "sign-in-server",
    verb({
      kind: "change",
      isSocketOnly: true,
      params: z.strictObject({ slug: name, scopes: z.array(name).max(MAX_SCOPES).optional() }),
      run: (plane, request, signal) => plane.signInServer({ ...request, signal }),
    }),
  ],
  [
    "sign-out-server",
    verb({
      kind: "change",
      params: z.strictObject({ slug: name }),
      run: (plane, { slug }) => plane.signOutServer(slug),
    }),
  ],
  [
    "refresh",
    verb({
      kind: "change",
      params: z.strictObject({ connectorKey: name.optional() }),
      run: (plane, { connectorKey }) => plane.refresh(connectorKey),
    }),
  ],
  ["approvals", verb({ kind: "read", params: nothing, run: (plane) => plane.approvals() })],
  [
    "decide-approval",
    verb({
      kind: "change",
      params: z.strictObject({ id: name, decision: z.enum(["approve", "deny"]) }),
      question(plane, { id, decision }) {
        const approval = decision === "approve" ? plane.approval(id) : undefined;
        return approval && questionOf({ kind: "approval", approval });
      },
      run: (plane, { id, decision }) => plane.decideApproval(id, decision),
    }),
  ],
  [
    "calls",
    verb({
      kind: "read",
      params: z.strictObject({
        before: name.optional(),
        connectorKey: name.optional(),
        verdict: deliverySchema.optional(),
        limit: z.int().positive().max(MAX_CALLS).optional(),
      }),
      run: (plane, query) => plane.calls(query),
    }),
  ],
  [
    "acknowledge-calls",
    verb({
      kind: "change",
      params: z.strictObject({ ids: z.array(name).max(MAX_IDS) }),
      run: (plane, { ids }) => plane.acknowledgeCalls(ids),
    }),
  ],
  [
    "test-call",
    verb({
      kind: "change",
      params: z.strictObject({
        connectorKey: name,
        nativeName: name,
        argumentsText: z.string().default("{}"),
        timeoutMs: z.number().positive().max(MAX_TEST_MS).optional(),
      }),
      question: (_plane, { connectorKey, nativeName, argumentsText }) =>
        questionOf({ kind: "test_call", connectorKey, nativeName, argumentsText }),
      run: (plane, request, signal) => plane.testCall({ ...request, signal }),
    }),
  ],
  [
    "link",
    verb({
      kind: "change",
      isSocketOnly: true,
      params: nothing,
      question: () => questionOf({ kind: "link" }),
      run: (plane) => plane.adminLink(),
    }),
  ],
]);
