import { isJsonObject, isRequestId, type JsonObject, MetaKey, type RequestId } from "../protocol/index.js";

/** Levels that a request may ask log messages for. Source: 2026-07-28, Logging, Log Levels. */
const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a message of `level` is for somebody who asked for `least` and above. What is no level is for nobody. */
export function reachesLevel(level: unknown, least: LogLevel): boolean {
  return isLogLevel(level) && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** What every modern request says of itself in `params._meta`. */
export interface RequestMeta {
  readonly protocolVersion: string;
  readonly clientCapabilities: JsonObject;
  /** Self-reported: for display only. */
  readonly clientInfo: JsonObject | undefined;
  /** Present when the caller wants progress. `0` and `""` are ordinary tokens. */
  readonly progressToken: RequestId | undefined;
  /** Without it the caller must not be sent log messages. */
  readonly logLevel: LogLevel | undefined;
  /** The whole member as it came, unknown keys included. */
  readonly members: JsonObject;
}

/** What reading a part of `_meta` gives. */
export type MetaReading<T> = ({ readonly kind: "valid" } & T) | { readonly kind: "invalid"; readonly reason: string };

/**
 * Finds `params._meta` and the version in it. That alone comes before anything else: what the other members have to be
 * is for the version to say. Source: 2026-07-28, Overview, `_meta`.
 */
export function readVersion(
  params: JsonObject,
): MetaReading<{ readonly members: JsonObject; readonly protocolVersion: string }> {
  const members = params["_meta"];
  if (!isJsonObject(members)) return invalid("params._meta is missing");
  const protocolVersion = members[MetaKey.protocolVersion];
  if (typeof protocolVersion !== "string") return invalid(`${MetaKey.protocolVersion} must be a string`);
  return { kind: "valid", members, protocolVersion };
}

/**
 * Reads the other members of `_meta` that the revision requires, and those that it defines when they are there.
 * Source: 2026-07-28, Overview, `_meta`; Progress, Progress Flow; Logging, Error Handling.
 */
export function readRequestMeta(
  members: JsonObject,
  protocolVersion: string,
): MetaReading<{ readonly meta: RequestMeta }> {
  const clientCapabilities = members[MetaKey.clientCapabilities];
  if (!isJsonObject(clientCapabilities)) return invalid(`${MetaKey.clientCapabilities} must be an object`);
  const clientInfo = members[MetaKey.clientInfo];
  if (clientInfo !== undefined && !isImplementation(clientInfo)) {
    return invalid(`${MetaKey.clientInfo} must have a name and a version`);
  }
  const progressToken = members[MetaKey.progressToken];
  if (progressToken !== undefined && !isRequestId(progressToken)) {
    return invalid(`${MetaKey.progressToken} must be a string or an integer`);
  }
  const logLevel = members[MetaKey.logLevel];
  if (logLevel !== undefined && !isLogLevel(logLevel)) return invalid(`${MetaKey.logLevel} is no log level`);
  return {
    kind: "valid",
    meta: { protocolVersion, clientCapabilities, clientInfo, progressToken, logLevel, members },
  };
}

function invalid(reason: string): { readonly kind: "invalid"; readonly reason: string } {
  return { kind: "invalid", reason };
}

function isImplementation(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

/** Whether a value is one of the levels. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
