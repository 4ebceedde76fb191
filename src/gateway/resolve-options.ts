import { z } from "zod";
import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../options.js";
import { isMetaKey, isReservedMetaKey } from "../protocol/index.js";
import { addHeaders, parseEndpoint, resolveDeadlines, systemClock } from "../transport/index.js";
import { createMemoryState } from "./memory-state.js";
import type { GatewayConfig, GatewayOptions, HttpUpstream } from "./options.js";

const MIB = 1024 * 1024;
const CONNECTOR_ID = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/;
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const COOKIE_VALUE = /^[!#-+\--:<-[\]-~]+$/;

const text = z.string().min(1);
const texts = z.record(z.string(), z.string()).optional();

const accountShape = z.strictObject({
  accountId: text,
  sessions: z.array(text.regex(COOKIE_VALUE, "a cookie can't carry it")),
});
const connectorShape = z.strictObject({
  connectorId: z.string().regex(CONNECTOR_ID),
  connectorVersion: z.string().regex(/^[!-~]{1,128}$/),
  authorization: z.enum(["account", "none"]),
  upstream: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("stdio"),
      command: text,
      args: z.array(z.string()).optional(),
      env: texts,
      cwd: text.optional(),
    }),
    z.strictObject({ kind: z.literal("http"), url: text, headers: texts }),
  ]),
});

const OPTION_NAMES: readonly (keyof GatewayOptions)[] = [
  "accounts",
  "adminBearer",
  "adminPort",
  "allowedOrigins",
  "clock",
  "connectors",
  "hintPingMs",
  "host",
  "keepAliveMs",
  "maxBodyBytes",
  "maxBufferedBytes",
  "onFault",
  "port",
  "serverInfo",
  "sessionCookie",
  "state",
  "unixTime",
  "upstreamDeadlines",
  "upstreamIdleMs",
  "versionHeader",
  "versionMetaKey",
];

/** Applies the defaults and checks what can be checked. Throws `invalid_options`, which never shows a session or bearer. */
export function resolveGatewayOptions(options: GatewayOptions): GatewayConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const accounts = parseOption("accounts", z.array(accountShape), options.accounts);
  const connectors = parseOption("connectors", z.array(connectorShape), options.connectors);
  refuseDuplicates(
    "accounts",
    "accountId",
    accounts.map(({ accountId }) => accountId),
  );
  refuseDuplicates(
    "accounts",
    "session",
    accounts.flatMap(({ sessions }) => sessions),
  );
  refuseDuplicates(
    "connectors",
    "connectorId",
    connectors.map(({ connectorId }) => connectorId),
  );
  for (const { connectorId, upstream } of connectors) {
    if (upstream.kind === "http") checkHttpUpstream(connectorId, upstream);
  }
  const { adminBearer } = options;
  if (adminBearer !== undefined && adminBearer.length < 16)
    refuseOption("adminBearer", "must have 16 characters or more");
  return {
    accounts,
    connectors: new Map(connectors.map((connector) => [connector.connectorId, connector])),
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    allowedOrigins: options.allowedOrigins ?? [],
    adminBearer,
    adminPort: options.adminPort ?? 0,
    sessionCookie: tokenOption("sessionCookie", options.sessionCookie ?? "session"),
    versionHeader: tokenOption("versionHeader", options.versionHeader ?? "Tutti-Connector-Version"),
    versionMetaKey: metaKeyOption("versionMetaKey", options.versionMetaKey ?? "sh.tutti/connectorVersion"),
    serverInfo: options.serverInfo ?? { name: "remote-connector-gateway", version: "1" },
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 4 * MIB),
    maxBufferedBytes: countOption("maxBufferedBytes", options.maxBufferedBytes, 8 * MIB),
    upstreamDeadlines: resolveDeadlines(options.upstreamDeadlines ?? {}, {
      connectTimeoutMs: 30_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: 3_600_000,
    }),
    upstreamIdleMs: durationOption("upstreamIdleMs", options.upstreamIdleMs, 600_000),
    keepAliveMs: durationOption("keepAliveMs", options.keepAliveMs, 15_000),
    hintPingMs: durationOption("hintPingMs", options.hintPingMs, 30_000),
    state: options.state ?? createMemoryState(),
    clock: options.clock ?? systemClock,
    unixTime: options.unixTime ?? Date.now,
    onFault: options.onFault ?? (() => undefined),
  };
}

function parseOption<T>(option: string, shape: z.ZodType<T>, value: unknown): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const keys = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [option, ...(issue?.path ?? []), ...keys].map(String).join(".");
  const reason = keys.length > 0 ? "unknown" : (issue?.message ?? "can't be used");
  throw new RemoteConnectorError("invalid_options", {
    message: `The option ${path} can't be used: ${reason}.`,
    details: { option: path, reason },
  });
}

/** Found out here, a wrong endpoint stops the gateway; found out later, it fails every call. */
function checkHttpUpstream(connectorId: string, { headers, url }: HttpUpstream): void {
  try {
    parseEndpoint(url, { allowInsecureHttp: false });
    addHeaders([], headers ?? {});
  } catch (error) {
    if (!isRemoteConnectorError(error)) throw error;
    refuseOption("connectors", `hold an upstream of ${connectorId} that can't be used: ${error.message}`);
  }
}

function refuseDuplicates(option: string, what: string, values: readonly string[]): void {
  if (new Set(values).size < values.length) refuseOption(option, `must not have the same ${what} twice`);
}

function tokenOption(option: string, value: string): string {
  return HTTP_TOKEN.test(value) ? value : refuseOption(option, "must be an HTTP token");
}

function metaKeyOption(option: string, value: string): string {
  if (isMetaKey(value) && !isReservedMetaKey(value)) return value;
  return refuseOption(option, "must be a _meta key that the protocol does not reserve");
}
