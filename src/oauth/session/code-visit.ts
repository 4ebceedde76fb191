import { isRemoteConnectorError } from "../../errors.js";
import { refuseOption } from "../../options.js";
import { type PendingAuthorization, prepareAuthorization, readCallback, redeemParameters } from "../code-flow/index.js";
import { checkCodeFlow } from "../discovery/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { CallbackReceiver, CallbackSession, OpenUrl } from "../interaction.js";
import type { OAuthClient } from "../oauth-client.js";
import { isClientRefusal, requestToken } from "../token-endpoint/index.js";
import { type AuthorizationPlan, proverFor, recordOf } from "./authorization-plan.js";
import type { SessionParts } from "./session-parts.js";
import { waitFor } from "./waiting.js";

/** A person's visit to an authorization server, not made yet. */
export interface PreparedVisit {
  readonly plan: AuthorizationPlan;
  readonly client: OAuthClient;
  readonly pending: PendingAuthorization;
}

/** Prepares a visit that comes back to this redirect URI. Rejects with `oauth_invalid`, `invalid_url`. */
export async function prepareVisit(
  plan: AuthorizationPlan,
  client: OAuthClient,
  redirectUri: string,
  { config }: SessionParts,
): Promise<PreparedVisit> {
  const { randomBytes } = config;
  const { resource, scopes, server } = plan;
  const pending = await prepareAuthorization({ server, client, redirectUri, scopes, resource, randomBytes });
  return { plan, client, pending };
}

/** Redeems what a browser brought back. Rejects with `oauth_invalid`, `oauth_refused`, and as the requester does. */
export async function redeemVisit(
  { client, pending, plan }: PreparedVisit,
  callback: URL,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<GrantRecord> {
  const { code } = readCallback(callback, pending);
  const { randomBytes, wallNow } = parts.config;
  const dpop = await proverFor(plan, parts);
  const parameters = redeemParameters(code, pending, plan.resource);
  const server = plan.server.metadata;
  const request = { server, client, step: "token", parameters, dpop, wallNow, randomBytes } as const;
  const tokens = await requestToken(await parts.discovery.requester(), request, signal);
  return recordOf(plan, client, tokens, dpop, parts.discovery.endpoint);
}

/**
 * Asks a person, and makes a record of what the browser brings back. A registration that the authorization server does not know any
 * more, or whose redirect URI can't be listened on, is made anew, once; with `most` below 2 the person is not asked a second time.
 *
 * Rejects with `oauth_refused`, `oauth_invalid`, `client_identity_required`, `listen_failed`, `invalid_options` for a client without any
 * redirect URI, as `openUrl` and the requester do, or with the signal's reason.
 */
export async function visitWithBrowser(
  plan: AuthorizationPlan,
  openUrl: OpenUrl,
  parts: SessionParts,
  { most = Infinity, signal }: { readonly signal: AbortSignal; readonly most?: number | undefined },
): Promise<GrantRecord> {
  checkCodeFlow(plan.server);
  const known = await parts.desk.known(plan.server.metadata);
  try {
    return await visitOnce(plan, openUrl, known, parts, signal);
  } catch (error) {
    if (known?.kind !== "dynamic") throw error;
    // Servers that don't know a client show the person a page, and nobody comes back: the next visit is made with another one.
    if (isTimeUp(error)) await parts.desk.forget(known);
    if (signal.aborted) throw error;
    // Before anybody was shown anything.
    const isUnused = isRemoteConnectorError(error, "listen_failed");
    if (!isUnused && !isClientRefusal(error)) throw error;
    await parts.desk.forget(known);
    if (!isUnused && most < 2) throw error;
    return visitOnce(plan, openUrl, undefined, parts, signal);
  }
}

function isTimeUp(error: unknown): boolean {
  return isRemoteConnectorError(error, "timeout") && error.details.option === "signInTimeoutMs";
}

async function visitOnce(
  plan: AuthorizationPlan,
  openUrl: OpenUrl,
  known: OAuthClient | undefined,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<GrantRecord> {
  if (known !== undefined && known.redirectUris.length === 0) {
    refuseOption(
      "callback",
      "must have redirect URIs: the client is not registered for wherever a browser comes back to",
    );
  }
  // Before anything is registered: where a browser comes back to is part of the registration.
  const callback = await openCallback(parts.config.callback, known?.redirectUris, signal);
  let isAuthorized = false;
  try {
    const client = known ?? (await register(plan, callback, parts, signal));
    const visit = await prepareVisit(plan, client, callback.redirectUri, parts);
    const { issuer } = plan.server.metadata;
    parts.tell({ kind: "sign_in_started", issuer, scopes: plan.scopes });
    signal.throwIfAborted();
    const answer = await visited(visit.pending.url, openUrl, callback, signal);
    const record = await redeemVisit(visit, answer, parts, signal);
    isAuthorized = true;
    return record;
  } finally {
    await callback.close(isAuthorized ? "authorized" : "failed");
  }
}

/** One that opens when nobody waits for it any more is closed. */
async function openCallback(
  receiver: CallbackReceiver,
  registered: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<CallbackSession> {
  const opening = receiver.open(registered);
  try {
    return await waitFor(opening, signal);
  } catch (error) {
    if (signal.aborted) void opening.then((late) => late.close("failed")).catch(() => undefined);
    throw error;
  }
}

/** Shows the person where to go, and waits for the browser: what shows it need not end first, and may not end at all. */
function visited(url: string, openUrl: OpenUrl, callback: CallbackSession, signal: AbortSignal): Promise<URL> {
  return new Promise((resolve, reject) => {
    waitFor(callback.wait(signal), signal).then(resolve, reject);
    Promise.resolve(openUrl(url)).catch(reject);
  });
}

async function register(
  { scopes, server }: AuthorizationPlan,
  { redirectUri }: CallbackSession,
  { desk, tell }: SessionParts,
  signal: AbortSignal,
): Promise<OAuthClient> {
  const client = await desk.register(server.metadata, redirectUri, scopes, signal);
  tell({ kind: "registered", issuer: server.metadata.issuer });
  return client;
}
