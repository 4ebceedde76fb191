import { isJsonObject, type Notification, type Progress, type RequestId } from "../protocol/index.js";
import { type LogLevel, notificationLine } from "../serving/index.js";

const SEVERITY: Readonly<Record<LogLevel, number>> = {
  debug: 0,
  info: 1,
  notice: 2,
  warning: 3,
  error: 4,
  critical: 5,
  alert: 6,
  emergency: 7,
};

/** A progress notification that carries the caller's own token in place of the one that we gave the upstream. */
export function progressLine(progressToken: RequestId, progress: Progress): string {
  return notificationLine("notifications/progress", { progressToken, ...progress });
}

/**
 * The log message to pass on, or `undefined` for a notification that is none, for one below what the caller asked for,
 * and for all of them when it did not ask. Source: 2026-07-28, Logging, Per-request log level.
 */
export function logLine(notification: Notification, logLevel: LogLevel | undefined): string | undefined {
  if (logLevel === undefined || notification.method !== "notifications/message") return undefined;
  const { params } = notification;
  const level = isJsonObject(params) ? params["level"] : undefined;
  if (!isLogLevel(level) || SEVERITY[level] < SEVERITY[logLevel]) return undefined;
  return notificationLine(notification.method, params);
}

function isLogLevel(value: unknown): value is LogLevel {
  return typeof value === "string" && Object.hasOwn(SEVERITY, value);
}
