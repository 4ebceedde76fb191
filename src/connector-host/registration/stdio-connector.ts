import { z } from "zod";
import type { RemoteConnectorError } from "../../errors.js";
import { type Fault, findFault } from "../release/index.js";
import { capabilityList, DEFAULT_CAPABILITIES } from "./capabilities.js";
import { type ConfiguredValue, configuredValue, isVariableName } from "./configured-value.js";
import {
  findInlineSecret,
  type RegistrationPolicy,
  type RegistrationPolicyConfig,
  resolveRegistrationPolicy,
} from "./registration-policy.js";
import { registrationRefused } from "./registration-refused.js";
import { connectorKey, connectorState, durationMs } from "./registration-schema.js";
import { type Table, tableOf } from "./table-schema.js";
import { displayName } from "./text-schemas.js";
import { declaredToolRules, toolRules } from "./tool-rules.js";

const PATH_LENGTH = 4_096;
const ARGUMENTS = 256;
const VARIABLES = 256;
const READY_TIMEOUT_MS = 900_000;
const LIST_TIMEOUT_MS = 30_000;
/** POSIX, a drive of Windows, a share of Windows. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

const path = z
  .string()
  .min(1)
  .max(PATH_LENGTH)
  .refine((value) => !/[\0\r\n]|\p{Surrogate}/u.test(value), "must be a path of one line");

const members = {
  key: connectorKey,
  displayName,
  command: path.refine(isCommand, "must be the name of a program, or an absolute path"),
  args: z.array(configuredValue).max(ARGUMENTS).readonly().prefault([]),
  env: tableOf(configuredValue.nullable(), {
    maxEntries: VARIABLES,
    refuseName: (name) => (isVariableName(name) ? undefined : "must have the name of a variable"),
  }).prefault({}),
  cwd: path.refine((value) => ABSOLUTE.test(value), "must be an absolute path").optional(),
  deadlines: z
    .strictObject({
      readyTimeoutMs: durationMs.default(READY_TIMEOUT_MS),
      listTimeoutMs: durationMs.default(LIST_TIMEOUT_MS),
    })
    .readonly()
    .prefault({}),
  capabilities: capabilityList.default(DEFAULT_CAPABILITIES),
};

const schema = z.strictObject({ ...members, state: connectorState, ...toolRules }).readonly();

const declarationSchema = z
  .strictObject({ ...members, state: connectorState.removeDefault().default("active"), ...declaredToolRules })
  .readonly();

/**
 * A server that is a program of this machine, which the host starts and keeps running.
 *
 * `command` is run as it is, with `args`, without a shell. `env` is laid over what a program needs to run; `null` takes a variable
 * away. References are resolved when it is started, and never here. A program that is not ready by `readyTimeoutMs` is
 * ended, and started again later; `listTimeoutMs` is for one list of its tools.
 */
export type ManagedStdioConnector = z.output<typeof schema>;

/**
 * Reads the definition of a managed program from untrusted data. The result is a frozen copy, paused and with all tools off
 * unless the definition says otherwise.
 *
 * Throws `invalid_registration`, whose `member` is the path of the member at fault, and `invalid_options` for the policy.
 */
export function parseStdioConnector(value: unknown, policy: RegistrationPolicy = {}): ManagedStdioConnector {
  return read(schema, value, resolveRegistrationPolicy(policy));
}

/**
 * Reads a managed program that the host's own configuration declares: active, and every tool allowed unless the declaration says
 * otherwise (`state`, `newTools`, `permissions`), as an imported one does. Show that when the host starts.
 *
 * Throws as {@link parseStdioConnector} does.
 */
export function declareStdioConnector(declaration: unknown, policy: RegistrationPolicy = {}): ManagedStdioConnector {
  return read(declarationSchema, declaration, resolveRegistrationPolicy(policy));
}

function read<T extends { readonly env: Table<ConfiguredValue | null> }>(
  shape: z.ZodType<T>,
  value: unknown,
  policy: RegistrationPolicyConfig,
): T {
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw refused(findFault(parsed.error.issues, () => "not a member of a managed program"));
  const fault = findInlineSecret("env", parsed.data.env, policy);
  if (fault !== undefined) throw refused(fault);
  return parsed.data;
}

function refused(fault: Fault): RemoteConnectorError<"invalid_registration"> {
  return registrationRefused("managed program", fault);
}

/** A name is looked for in `PATH`; a relative path would depend on where the host was started. */
function isCommand(value: string): boolean {
  return ABSOLUTE.test(value) || !/[\\/]/.test(value);
}
