import { createHash } from "node:crypto";
import { type ManagedStdioConnector, type Registration, settingsDigest } from "../registration/index.js";
import { canonicalJson } from "../release/index.js";

/** A server over HTTP that was registered. */
export interface RegisteredConnector {
  readonly kind: "registration";
  readonly key: string;
  /** Of everything that its client is made by. Permissions, descriptions and names are not in it. */
  readonly digest: string;
  readonly registration: Registration;
}

/** A program of this machine that the host runs. */
export interface ProgramConnector {
  readonly kind: "stdio";
  readonly key: string;
  /** Of everything that its process and its client are made by. Permissions, descriptions and names are not in it. */
  readonly digest: string;
  readonly connector: ManagedStdioConnector;
}

/**
 * A connector of the device, whatever carries its messages. Its `digest` is the identity of a plan that enables it
 * (`Plan.identity`): 64 lower-case hex digits, the same ones for the same definition.
 */
export type DeviceConnector = RegisteredConnector | ProgramConnector;

/** The connector of a registration. */
export function registeredConnector(registration: Registration): RegisteredConnector {
  const { id, slug: key, settings, deadlines, capabilities } = registration;
  const digest = digestOf({ kind: "registration", id, settings: settingsDigest(settings), deadlines, capabilities });
  return { kind: "registration", key, digest, registration };
}

/** The connector of a managed program. */
export function programConnector(connector: ManagedStdioConnector): ProgramConnector {
  const { key, command, args, env, cwd, deadlines, capabilities } = connector;
  const digest = digestOf({ kind: "stdio", key, command, args, env, cwd, deadlines, capabilities });
  return { kind: "stdio", key, digest, connector };
}

function digestOf(members: object): string {
  return createHash("sha256").update(canonicalJson(members), "utf8").digest("hex");
}
