import { RemoteConnectorError } from "../errors.js";
import { encodeJson } from "./encode-json.js";
import { mergeCapabilities } from "./merge-capabilities.js";
import { refuseOption } from "../options.js";
import { TRACE_KEYS, type TraceContext } from "../transport/index.js";
import { type Implementation, isMetaKey, type JsonObject, MetaKey, MODERN_REVISION } from "../protocol/index.js";

/** What a client puts in every request's `_meta`, encoded once. */
export interface ClientMeta {
  readonly keys: ReadonlySet<string>;
  /** The members as JSON, without the braces. */
  readonly json: string;
  /** The same without the capabilities, which a call can add to. */
  readonly bareJson: string;
  readonly capabilities: JsonObject;
}

/** What one request adds to it. */
export interface CallMeta {
  /** The caller's own members, merged. */
  readonly members?: JsonObject | undefined;
  /** Capabilities beside those of the client. */
  readonly capabilities?: JsonObject | undefined;
  readonly progressToken?: number | undefined;
  readonly logLevel?: string | undefined;
}

export interface ClientMetaParts {
  readonly clientInfo: Implementation | false;
  readonly capabilities: JsonObject;
  readonly further: JsonObject;
}

/**
 * Encodes the members that every request carries. Throws `invalid_options` for a further key that breaks the grammar of
 * `_meta` keys or that the client sets itself. Source: 2026-07-28, Overview, `_meta`.
 */
export function composeClientMeta({ clientInfo, capabilities, further }: ClientMetaParts): ClientMeta {
  const members: Record<string, unknown> = { [MetaKey.protocolVersion]: MODERN_REVISION };
  if (clientInfo !== false) members[MetaKey.clientInfo] = clientInfo;
  for (const [key, value] of Object.entries(further)) {
    if (!isMetaKey(key)) refuseOption("meta", `holds ${JSON.stringify(key)}, which is no _meta key`);
    if (Object.hasOwn(members, key) || key === MetaKey.clientCapabilities || key === MetaKey.progressToken) {
      refuseOption("meta", `holds ${JSON.stringify(key)}, which the client sets itself`);
    }
    members[key] = value;
  }
  try {
    const bareJson = JSON.stringify(members).slice(1, -1);
    const json = `${bareJson},"${MetaKey.clientCapabilities}":${JSON.stringify(capabilities)}`;
    return { keys: new Set([...Object.keys(members), MetaKey.clientCapabilities]), json, bareJson, capabilities };
  } catch {
    return refuseOption("meta", "or capabilities or clientInfo has no JSON form");
  }
}

/**
 * The `_meta` of one request as JSON. Throws `invalid_argument` (`not_sent`) for a member that the client sets itself: it is
 * neither overwritten nor lost.
 */
export function encodeMeta(client: ClientMeta, call: CallMeta): string {
  let json = `{${call.capabilities === undefined ? client.json : jsonWith(client, call.capabilities)}`;
  if (call.progressToken !== undefined) json += `,"progressToken":${String(call.progressToken)}`;
  if (call.logLevel !== undefined) json += `,"${MetaKey.logLevel}":${JSON.stringify(call.logLevel)}`;
  for (const [key, value] of Object.entries(call.members ?? {})) {
    const taken =
      client.keys.has(key) ||
      (key === MetaKey.progressToken && call.progressToken !== undefined) ||
      (key === MetaKey.logLevel && call.logLevel !== undefined);
    if (taken) {
      throw new RemoteConnectorError("invalid_argument", {
        message: `The _meta key ${JSON.stringify(key)} is set by the client itself.`,
        details: { argument: "meta", reason: `${key} is set by the client` },
      });
    }
    if (value !== undefined) json += `,${JSON.stringify(key)}:${encodeMember(key, value)}`;
  }
  return `${json}}`;
}

/**
 * The same with the trace that the request belongs to, unless the caller's members or the client's give a part of one: parts of
 * two traces would make none.
 */
export function withTrace(
  metaJson: string,
  trace: TraceContext | undefined,
  { keys }: ClientMeta,
  members: JsonObject = {},
): string {
  if (trace === undefined || TRACE_KEYS.some((key) => keys.has(key) || members[key] !== undefined)) return metaJson;
  let json = metaJson.slice(0, -1);
  for (const key of TRACE_KEYS) {
    const value = trace[key];
    if (value !== undefined) json += `,"${key}":${JSON.stringify(value)}`;
  }
  return `${json}}`;
}

function jsonWith(client: ClientMeta, added: JsonObject): string {
  const capabilities = mergeCapabilities(client.capabilities, added);
  return `${client.bareJson},"${MetaKey.clientCapabilities}":${encodeJson("capabilities", capabilities)}`;
}

function encodeMember(key: string, value: unknown): string {
  return encodeJson(`meta.${key}`, value);
}
