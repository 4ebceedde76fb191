import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { countOption, durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../options.js";
import { isMetaKey, isReservedMetaKey } from "../protocol/index.js";
import { addHeaders, parseEndpoint, resolveDeadlines, systemClock } from "../transport/index.js";
import { parseProviderUrl } from "./authorizing/index.js";
import { createMemoryState } from "./memory-state.js";
import { OFFERS } from "./offers.js";
import type { GatewayConfig, GatewayConnector, GatewayOptions, HttpUpstream, SecretAuthorizing } from "./options.js";

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
  offers: z.array(z.enum(OFFERS)).optional(),
  authorizing: z
    .discriminatedUnion("kind", [
      z.strictObject({
        kind: z.literal("secret"),
        verify: z.custom<SecretAuthorizing["verify"]>(isFunction).optional(),
      }),
      z.strictObject({
        kind: z.literal("oauth"),
        issuer: text,
        endpoints: z.strictObject({ authorization: text, token: text }).optional(),
        clientId: text,
        clientSecret: text.optional(),
        clientAuthentication: z.enum(["client_secret_basic", "client_secret_post"]).optional(),
        scopes: z.array(z.string().regex(/^[!#-[\]-~]+$/)).optional(),
      }),
    ])
    .optional(),
  upstream: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("stdio"),
      command: text,
      args: z.array(z.string()).optional(),
      env: texts,
      cwd: text.optional(),
      credentialVariable: z
        .string()
        .regex(/^[A-Za-z_]\w*$/)
        .optional(),
    }),
    z.strictObject({
      kind: z.literal("http"),
      url: text,
      headers: texts,
      credentialHeader: z.string().regex(HTTP_TOKEN).optional(),
      credentialPrefix: z
        .string()
        .regex(/^[ -~]*$/)
        .optional(),
    }),
  ]),
});

const OPTION_NAMES: readonly (keyof GatewayOptions)[] = [
  "accounts",
  "adminBearer",
  "adminPort",
  "allowedOrigins",
  "authorizationSessionKeepMs",
  "authorizationSessionMs",
  "clock",
  "connectors",
  "hintPingMs",
  "host",
  "keepAliveMs",
  "maxAuthorizationSessions",
  "maxBodyBytes",
  "maxBufferedBytes",
  "onFault",
  "port",
  "providerTimeoutMs",
  "publicUrl",
  "random",
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
  for (const connector of connectors) {
    const { connectorId, upstream } = connector;
    if (upstream.kind === "http") checkHttpUpstream(connectorId, upstream);
    checkAuthorizing(connector);
  }
  const { adminBearer } = options;
  const publicUrl = publicUrlOption(options.publicUrl);
  const proxies = publicUrl === undefined ? [] : [new URL(publicUrl)];
  if (adminBearer !== undefined && adminBearer.length < 16)
    refuseOption("adminBearer", "must have 16 characters or more");
  return {
    accounts,
    connectors: new Map(connectors.map((connector) => [connector.connectorId, connector])),
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    allowedOrigins: [...(options.allowedOrigins ?? []), ...proxies.map(({ origin }) => origin)],
    allowedHosts: proxies.map(({ host }) => host),
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
    publicUrl,
    authorizationSessionMs: durationOption("authorizationSessionMs", options.authorizationSessionMs, 600_000),
    authorizationSessionKeepMs: durationOption(
      "authorizationSessionKeepMs",
      options.authorizationSessionKeepMs,
      600_000,
    ),
    maxAuthorizationSessions: countOption("maxAuthorizationSessions", options.maxAuthorizationSessions, 1_000),
    providerTimeoutMs: durationOption("providerTimeoutMs", options.providerTimeoutMs, 10_000),
    random: functionOption("random", options.random, randomBytes),
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

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** Whether accounts can do what the connector asks of them, and what comes of it can go anywhere. */
function checkAuthorizing({ authorization, authorizing, connectorId, upstream }: GatewayConnector): void {
  if (authorizing === undefined) return;
  const refuseConnector = (reason: string): never => refuseOption("connectors", `hold ${connectorId}, ${reason}`);
  if (authorization === "none") refuseConnector("which needs no authorization and says how to authorize it");
  if (upstream.kind === "stdio" && upstream.credentialVariable === undefined) {
    refuseConnector("whose upstream has no credentialVariable");
  }
  if (authorizing.kind === "secret") return;
  const { endpoints, issuer } = authorizing;
  for (const url of [issuer, ...(endpoints === undefined ? [] : [endpoints.authorization, endpoints.token])]) {
    try {
      parseProviderUrl(url, issuer);
    } catch (error) {
      if (!isRemoteConnectorError(error)) throw error;
      refuseConnector(`whose authorization server can't be used: ${error.message}`);
    }
  }
}

function publicUrlOption(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    const url = parseEndpoint(value, { allowInsecureHttp: false });
    return url.search === "" ? url.href.replace(/\/$/, "") : refuseOption("publicUrl", "must have no query");
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_url")) throw error;
    return refuseOption("publicUrl", `can't be used: ${error.message}`);
  }
}

/** Found out here, a wrong endpoint stops the gateway; found out later, it fails every call. */
function checkHttpUpstream(connectorId: string, { credentialHeader, headers, url }: HttpUpstream): void {
  try {
    parseEndpoint(url, { allowInsecureHttp: false });
    addHeaders([], headers ?? {});
    addHeaders([], { [credentialHeader ?? "Authorization"]: "" });
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
