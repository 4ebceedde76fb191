import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { isLoopback } from "../../protocol/index.js";
import type { Fault } from "../release/index.js";
import { type ConfiguredValue, partsOf, textsIn } from "./configured-value.js";
import type { ConnectionSettings } from "./connection-settings.js";
import { namesCredential } from "./credential-name.js";
import type { Table } from "./table-schema.js";

/** What a host allows in the definitions that it takes. */
export interface RegistrationPolicy {
  /** Permits plain http to hosts other than loopback. What is sent there can be read and changed on the way. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Permits credentials as plain texts in headers and variables. Default false: they must be references. */
  readonly allowInlineSecrets?: boolean | undefined;
}

/** {@link RegistrationPolicy} with nothing left open. */
export interface RegistrationPolicyConfig {
  readonly allowInsecureHttp: boolean;
  readonly allowInlineSecrets: boolean;
}

/** Fills in defaults. Throws `invalid_options`. */
export function resolveRegistrationPolicy(policy: RegistrationPolicy): RegistrationPolicyConfig {
  refuseUnknownOptions(policy, ["allowInsecureHttp", "allowInlineSecrets"]);
  const { allowInsecureHttp = false, allowInlineSecrets = false } = policy;
  if (typeof allowInsecureHttp !== "boolean") refuseOption("allowInsecureHttp", "must be true or false");
  if (typeof allowInlineSecrets !== "boolean") refuseOption("allowInlineSecrets", "must be true or false");
  return { allowInsecureHttp, allowInlineSecrets };
}

/** What the policy has against connection settings; `undefined`: nothing. */
export function findSettingsFault(settings: ConnectionSettings, policy: RegistrationPolicyConfig): Fault | undefined {
  const { protocol, hostname } = new URL(settings.endpoint);
  if (protocol === "http:" && !isLoopback(hostname) && !policy.allowInsecureHttp) {
    return {
      member: "endpoint",
      reason: "plain http to a host other than loopback; allowInsecureHttp permits it",
    };
  }
  return findInlineSecret("headers", settings.headers, policy);
}

/** The first of these values that holds a credential itself, though the policy wants references. */
export function findInlineSecret(
  member: string,
  values: Table<ConfiguredValue | null>,
  policy: RegistrationPolicyConfig,
): Fault | undefined {
  if (policy.allowInlineSecrets) return undefined;
  const name = Object.keys(values).find((each) => namesCredential(each) && isInline(values[each]));
  if (name === undefined) return undefined;
  const reason = "holds a credential itself, where { secret } or { env } must stand; allowInlineSecrets permits it";
  return { member: `${member}.${name}`, reason };
}

/** A text beside a reference is a scheme, such as `Bearer `; a default of one is the credential. */
function isInline(value: ConfiguredValue | null | undefined): boolean {
  if (value === null || value === undefined) return false;
  const parts = partsOf(value);
  if (parts.every((each) => typeof each === "string")) return parts.some((each) => each !== "");
  return textsIn(parts.filter((each) => typeof each !== "string")).some((each) => each !== "");
}
