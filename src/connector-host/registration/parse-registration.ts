import type { z } from "zod";
import { findFault } from "../release/index.js";
import { changeDescriptions } from "./change-descriptions.js";
import { boundedRules, changeRules, type RuleChange } from "./change-rules.js";
import { type ConnectionSettings, connectionSettings, settingsDigest } from "./connection-settings.js";
import {
  findSettingsFault,
  type RegistrationPolicy,
  type RegistrationPolicyConfig,
  resolveRegistrationPolicy,
} from "./registration-policy.js";
import { registrationRefused } from "./registration-refused.js";
import { declarationSchema, registrationSchema, requestSchema } from "./registration-schema.js";
import { askAgain } from "./tool-rules.js";

/**
 * A server over HTTP that a person registered.
 *
 * `id` and `slug` never change; the slug is its connector key. Deadlines that are left out are the host's own. `permissions` and
 * `descriptions` belong to the registration, and end with it.
 */
export type Registration = z.output<typeof registrationSchema>;

/** What is said of a server when it is registered, with nothing left open. */
export type RegistrationRequest = z.output<typeof requestSchema>;

/**
 * Reads a registration from untrusted data. The result is a frozen copy.
 *
 * Throws `invalid_registration`, whose `member` is the path of the member at fault, and `invalid_options` for the policy.
 */
export function parseRegistration(value: unknown, policy: RegistrationPolicy = {}): Registration {
  return readWhole(value, resolveRegistrationPolicy(policy));
}

/** Reads a request for a registration from untrusted data. Throws as {@link parseRegistration} does. */
export function parseRegistrationRequest(value: unknown, policy: RegistrationPolicy = {}): RegistrationRequest {
  return read(requestSchema, value, resolveRegistrationPolicy(policy));
}

/**
 * Makes a registration of a request, which is untrusted: paused, and every tool off. `id` is a new UUID of the caller's.
 *
 * Throws as {@link parseRegistration} does.
 */
export function createRegistration(request: unknown, id: string, policy: RegistrationPolicy = {}): Registration {
  const config = resolveRegistrationPolicy(policy);
  return readWhole({ ...read(requestSchema, request, config), id }, config);
}

/**
 * Makes a registration of a server that the host's own configuration declares: active, and every tool allowed unless the
 * declaration says otherwise (`newTools`, `permissions`). Show that when the host starts.
 *
 * Throws as {@link parseRegistration} does.
 */
export function declareRegistration(declaration: unknown, id: string, policy: RegistrationPolicy = {}): Registration {
  const config = resolveRegistrationPolicy(policy);
  return readWhole({ ...read(declarationSchema, declaration, config), id, state: "active" }, config);
}

/** As JSON without spaces. With those of its file it is less than three times as much. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What a replacement of settings comes to. */
export interface SettingsReplacement {
  readonly registration: Registration;
  /** Nothing; the settings, and so their digest; the origin as well, so that what was allowed asks now. */
  readonly changed: "nothing" | "settings" | "origin";
}

/**
 * Replaces a registration's connection settings as a whole. `settings` is untrusted, and says everything: what it leaves out is
 * gone. Slug, state and the rest stay, but a tool of another origin is another tool: `allow` becomes `ask`.
 *
 * Throws as {@link parseRegistration} does; nothing was replaced then.
 */
export function replaceSettings(
  registration: Registration,
  settings: unknown,
  policy: RegistrationPolicy = {},
): SettingsReplacement {
  const next = readSettings(settings, resolveRegistrationPolicy(policy));
  if (settingsDigest(next) === settingsDigest(registration.settings)) return { registration, changed: "nothing" };
  const { newTools, permissions } = askAgain(registration);
  return new URL(next.endpoint).origin === new URL(registration.settings.endpoint).origin
    ? { registration: bounded({ ...registration, settings: next }), changed: "settings" }
    : { registration: bounded({ ...registration, settings: next, newTools, permissions }), changed: "origin" };
}

/**
 * A registration with another decision about its tools. Throws `invalid_argument` for more than 2,048 tools with a permission of
 * their own, and `invalid_registration` when it gets too large.
 */
export function changePermissions(registration: Registration, change: RuleChange): Registration {
  const { newTools, permissions } = boundedRules(changeRules(registration, change));
  return bounded({ ...registration, newTools, permissions });
}

/**
 * A registration with other descriptions of one of its tools; `override` is untrusted, and `undefined` takes them away. Throws
 * `invalid_argument` as {@link changeDescriptions} does, and `invalid_registration` when it gets too large.
 */
export function describeTool(registration: Registration, nativeName: string, override: unknown): Registration {
  const descriptions = changeDescriptions(registration.descriptions, nativeName, override);
  return bounded({ ...registration, descriptions });
}

function readWhole(value: unknown, policy: RegistrationPolicyConfig): Registration {
  return bounded(read(registrationSchema, value, policy));
}

/** Each member has its bound; all of them together would be more than its file may be. */
function bounded(registration: Registration): Registration {
  if (Buffer.byteLength(JSON.stringify(registration), "utf8") <= MAX_BYTES) return Object.freeze(registration);
  throw registrationRefused("registration", { member: "", reason: "larger than 4 MiB as JSON" });
}

function read<T extends { readonly settings: ConnectionSettings }>(
  schema: z.ZodType<T>,
  value: unknown,
  policy: RegistrationPolicyConfig,
): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw registrationRefused("registration", findFault(parsed.error.issues, explainUnknown));
  const fault = findSettingsFault(parsed.data.settings, policy);
  if (fault !== undefined) throw registrationRefused("registration", { ...fault, member: `settings.${fault.member}` });
  return parsed.data;
}

function readSettings(value: unknown, policy: RegistrationPolicyConfig): ConnectionSettings {
  const parsed = connectionSettings.safeParse(value);
  if (!parsed.success) throw registrationRefused("registration", findFault(parsed.error.issues, explainUnknown));
  const fault = findSettingsFault(parsed.data, policy);
  if (fault !== undefined) throw registrationRefused("registration", fault);
  return parsed.data;
}

function explainUnknown(): string {
  return "not a member of a registration";
}
