import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type ConnectorHost, type ConnectorHostOptions, openConnectorHost } from "../../../src/connector-host/index.js";
import type { Gateway, GatewayFault } from "../../../src/gateway/index.js";
import { AuthorizationServer, type AuthorizationServerOptions } from "../../../src/testing/index.js";
import { openSqliteStore } from "../../../src/store/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import {
  admin,
  authorizingConnector,
  Cleanup,
  control,
  httpConnector,
  startCredentialUpstream,
  startGateway,
} from "../gateway/support.js";
import { HostParties, kindsOf } from "./host-parties.js";

const parties = new HostParties();
const cleanup = new Cleanup();

afterEach(async () => {
  await parties.opened.close();
  await cleanup.run();
});

const KEY = "key-of-ada-7f3a";
const CLIENT = {
  clientId: "gateway",
  clientSecret: "s3cr3t",
  redirectUris: ["http://127.0.0.1/v1/connector-authorizations/callback/a"],
};

interface Stage {
  readonly gateway: Gateway;
  readonly host: ConnectorHost;
  readonly published: string[];
  readonly logged: unknown[];
}

/** A host before a gateway whose connector `a` takes the key above, and whose `b` takes any. */
async function withSecrets(options: Partial<ConnectorHostOptions> = {}, stateDirectory?: string): Promise<Stage> {
  const upstream = await startCredentialUpstream(cleanup, (header) => header === `Bearer ${KEY}`);
  const verify = (secret: string): boolean => secret === KEY;
  const gateway = await startGateway(cleanup, [
    authorizingConnector("a", upstream.url, { kind: "secret", verify }),
    authorizingConnector("b", upstream.url, { kind: "secret" }),
    httpConnector("free", upstream.url),
  ]);
  return hostOn(gateway, ["a", "b"], options, stateDirectory);
}

/** A host before a gateway whose connector `a` is authorized at a provider. */
async function withProvider(
  server: AuthorizationServerOptions = {},
  stateDirectory?: string,
): Promise<Stage & { server: AuthorizationServer }> {
  const provider = await AuthorizationServer.start({ clients: [CLIENT], ...server });
  cleanup.add(() => provider.close());
  const isTaken = (header = ""): boolean => provider.isValid(header.replace("Bearer ", ""));
  const upstream = await startCredentialUpstream(cleanup, isTaken);
  const { clientId, clientSecret } = CLIENT;
  const authorizing = { kind: "oauth", issuer: provider.issuer, clientId, clientSecret } as const;
  const gateway = await startGateway(cleanup, [authorizingConnector("a", upstream.url, authorizing)]);
  return { ...(await hostOn(gateway, ["a"], {}, stateDirectory)), server: provider };
}

async function hostOn(
  gateway: Gateway,
  keys: readonly string[],
  options: Partial<ConnectorHostOptions> = {},
  stateDirectory?: string,
): Promise<Stage> {
  const logged: unknown[] = [];
  const log = (...line: unknown[]): void => void logged.push(line);
  const free = releaseOf("free", { authorization: { kind: "none" } });
  const given: ConnectorHostOptions = {
    baseUrl: gateway.origin,
    releases: [...keys.map((key) => releaseOf(key)), free],
    accounts: { authorize: ({ accountId }) => ({ Cookie: `session=s-${accountId}` }) },
    hostInfo: { name: "test", version: "1.0.0" },
    hintsUrl: false,
    logger: { debug: log, info: log, warn: log, error: log },
    ...options,
  };
  const host = await openConnectorHost({ ...given, stateDirectory });
  parties.opened.push(host);
  const published: string[] = [];
  host.onPublication(({ kind, connectorKey, generation }) =>
    published.push(`${kind} ${connectorKey}@${String(generation)}`),
  );
  host.signIn("ada");
  return { gateway, host, published, logged };
}

async function fault(gateway: Gateway, what: GatewayFault): Promise<void> {
  expect((await admin(gateway, "POST", "/admin/faults", what)).status).toBeLessThan(300);
}

/** A browser: goes where it is sent, and back. */
async function visit(url: string): Promise<number> {
  const away = await fetch(url, { redirect: "manual" });
  const back = away.headers.get("location");
  return back === null ? away.status : (await fetch(back)).status;
}

const agentOf = (host: ConnectorHost): RawAgent => new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));

const statesOf = async (host: ConnectorHost): Promise<Record<string, string>> =>
  Object.fromEntries((await host.status()).map(({ connectorKey, state }) => [connectorKey, state]));

const aOf = (published: readonly string[]): string[] => kindsOf(published).filter((event) => event.endsWith(" a"));

describe("P-11: an authorization through the host", () => {
  it("P-11 ★: a secret: the account gives it, and the route is published when that resolves", async () => {
    const { host, published, logged } = await withSecrets();
    const given = new TextEncoder().encode(KEY);
    const started = await host.authorize("a", { secret: given });
    expect([...given].every((byte) => byte === 0)).toBe(true);
    expect(started.nextAction).toBeUndefined();
    expect(await started.result).toEqual({ authorized: true, published: true, reason: undefined });
    expect(aOf(published)).toEqual(["published a"]);
    expect((await agentOf(host).call("a_echo")).result).toMatchObject({ content: [{ text: `Bearer ${KEY}` }] });
    expect(await host.authorizations()).toMatchObject([
      { connectorKey: "a", state: "connected", connectorVersion: "1.0.0", nextAction: "submit_secret" },
    ]);
    const said = JSON.stringify(logged, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    expect(said).toContain("An authorization flow changed.");
    expect(said).not.toContain(KEY);
  });

  it("P-11 ★: one that is granted anew is published for its new version, not by the route that was there", async () => {
    const { host, published } = await withSecrets();
    for (const _ of [1, 2]) {
      const { result } = await host.authorize("a", { secret: KEY });
      expect(await result).toEqual({ authorized: true, published: true, reason: undefined });
    }
    expect(aOf(published)).toEqual(["published a", "replaced a"]);
  });

  it("P-10 ★: requests whose answers are lost: the session is the same one, and the secret is sent once", async () => {
    const { gateway, host } = await withSecrets();
    await fault(gateway, { kind: "drop_connection", on: "sessions" });
    const started = await host.authorize("a");
    expect(started.nextAction).toEqual({ type: "submit_secret" });
    await fault(gateway, { kind: "status", status: 503, on: "sessions" });
    const submitted = host.submitSecret("a", KEY);
    submitted.catch(() => undefined);
    // It did not arrive: that is found out by looking, and the secret is not sent again.
    await expect.poll(async () => (await host.authorizations())[0]?.state, { timeout: 5_000 }).toBe("waiting");
    await host.cancelAuthorization("a");
    await expect(submitted).rejects.toMatchObject({ code: "authorization_failed", details: { reason: "cancelled" } });
    expect(await host.authorizations()).toHaveLength(1);
  });

  it("P-11: one that a person types, after a wrong one", async () => {
    const { host } = await withSecrets();
    const wrong = await host.authorize("a", { secret: "wrong" });
    await expect(wrong.result).rejects.toMatchObject({
      code: "authorization_failed",
      details: { connectorKey: "a", reason: "provider_failed", errorCode: "connector_authorization_failed" },
    });
    const started = await host.authorize("a");
    expect(started.nextAction).toEqual({ type: "submit_secret" });
    await host.submitSecret("a", KEY);
    expect(await started.result).toMatchObject({ published: true });
  });

  it("P-11 ★: OAuth: the person is sent to the provider, and the route is published when they come back", async () => {
    const { host, published, server } = await withProvider();
    const started = await host.authorize("a");
    const { nextAction } = started;
    if (nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    expect(nextAction.url).toContain(server.issuer);
    expect(await host.authorizations()).toMatchObject([{ state: "waiting", nextAction: "redirect" }]);
    expect(await visit(nextAction.url)).toBe(200);
    expect(await started.result).toEqual({ authorized: true, published: true, reason: undefined });
    expect(aOf(published)).toEqual(["published a"]);
    expect((await agentOf(host).call("a_echo")).error).toBeUndefined();
  });

  it("P-11: a person who declines ends it with the provider's verdict", async () => {
    const { host } = await withProvider({ consent: "deny" });
    const started = await host.authorize("a");
    if (started.nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    await visit(started.nextAction.url);
    await expect(started.result).rejects.toMatchObject({
      code: "authorization_failed",
      details: { reason: "provider_failed", errorCode: "connector_authorization_denied" },
    });
    expect(await statesOf(host)).toMatchObject({ a: "authorization_required" });
  });

  it("P-11 ★: one that replaces another ends its session at the control plane", async () => {
    const { gateway, host } = await withProvider();
    const first = await host.authorize("a");
    await expect(host.authorize("a")).rejects.toMatchObject({
      code: "authorization_in_progress",
      details: { clientRequestId: first.clientRequestId },
    });
    const second = await host.authorize("a", { replace: true });
    await expect(first.result).rejects.toMatchObject({ details: { reason: "replaced" } });
    const [row] = (await host.authorizations()).filter(({ state }) => state === "cancelled");
    const path = `connector-authorization-sessions/${row?.sessionId ?? ""}`;
    expect(JSON.parse(await (await control(gateway, "GET", path)).text())).toMatchObject({
      session: { status: "CANCELED" },
    });
    if (second.nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    await visit(second.nextAction.url);
    expect(await second.result).toMatchObject({ published: true });
  });

  it("P-10: a cancelled one is over on both sides", async () => {
    const { gateway, host } = await withProvider();
    const started = await host.authorize("a");
    await host.cancelAuthorization("a");
    await expect(started.result).rejects.toMatchObject({ details: { reason: "cancelled" } });
    const [row] = await host.authorizations();
    expect(row).toMatchObject({ state: "cancelled", reason: "cancelled" });
    const path = `connector-authorization-sessions/${row?.sessionId ?? ""}`;
    expect(JSON.parse(await (await control(gateway, "GET", path)).text())).toMatchObject({
      session: { status: "CANCELED" },
    });
  });

  it("P-11 ★: signing out rejects it, and the next login of the account goes on with it", async () => {
    const { host } = await withProvider();
    const started = await host.authorize("a");
    if (started.nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    host.signIn("bob");
    await expect(started.result).rejects.toMatchObject({ code: "login_ended" });
    expect(await host.authorizations()).toEqual([]);
    await visit(started.nextAction.url);
    host.signIn("ada");
    await expect.poll(() => statesOf(host), { timeout: 10_000 }).toMatchObject({ a: "ready" });
    await expect
      .poll(async () => (await host.authorizations()).map(({ state }) => state), { timeout: 10_000 })
      .toEqual(["connected"]);
  });

  it("P-10 ★: a host that ends leaves it to the next one on the same folder, which publishes", async () => {
    const stateDirectory = await parties.folder();
    const { gateway, host, server } = await withProvider({}, stateDirectory);
    const started = await host.authorize("a");
    if (started.nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    await host.close();
    await expect(started.result).rejects.toMatchObject({ code: "login_ended" });
    await visit(started.nextAction.url);
    expect(server.tokens.length).toBeGreaterThan(0);
    const next = await hostOn(gateway, ["a"], {}, stateDirectory);
    await expect.poll(() => statesOf(next.host), { timeout: 10_000 }).toMatchObject({ a: "ready" });
    await expect
      .poll(() => next.host.authorizations(), { timeout: 10_000 })
      .toMatchObject([{ state: "connected", clientRequestId: started.clientRequestId }]);
  });

  it("P-11: a release that the account's authorization is not for is told", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [
      { ...authorizingConnector("a", upstream.url, { kind: "secret" }), connectorVersion: "2.0.0" },
    ]);
    const { host } = await hostOn(gateway, ["a"]);
    await expect(host.authorize("a", { secret: KEY })).rejects.toMatchObject({
      code: "control_plane_error",
      delivery: "answered",
      details: { status: 409 },
    });
    expect(await host.authorizations()).toMatchObject([{ state: "failed", reason: "refused" }]);
  });

  it("P-10 ★: a secret is overwritten whatever it is refused for", async () => {
    const { host } = await withSecrets();
    const secret = new Uint8Array(3);
    const refusals: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["unknown_connector", () => host.authorize("unknown", { secret })],
      ["invalid_argument", () => host.authorize("free", { secret })],
      ["invalid_argument", () => host.submitSecret("a", secret)],
      ["account_not_ready", () => host.authorize("a", { secret })],
      ["account_not_ready", () => host.submitSecret("a", secret)],
    ];
    for (const [code, refused] of refusals) {
      if (code === "account_not_ready") host.signOut();
      secret.fill(97);
      const rejection = expect(refused()).rejects.toMatchObject({ code });
      expect([...secret]).toEqual([0, 0, 0]);
      await rejection;
    }
  });

  it("P-10: what can't be authorized is refused", async () => {
    const { host } = await withSecrets();
    await expect(host.authorize("unknown")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(host.authorize("free")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(host.submitSecret("a", KEY)).rejects.toMatchObject({ code: "invalid_argument" });
    host.signOut();
    await expect(host.authorize("a")).rejects.toMatchObject({ code: "account_not_ready", delivery: "not_sent" });
    await expect(host.disconnect("a")).rejects.toMatchObject({ code: "account_not_ready" });
    await host.close();
    await expect(host.authorizations()).rejects.toMatchObject({ code: "account_not_ready" });
  });
});

describe("P-12: a disconnect through the host", () => {
  it("P-12 ★: takes the route away, and resolves when that was observed", async () => {
    const { gateway, host, published } = await withSecrets();
    await (
      await host.authorize("a", { secret: KEY })
    ).result;
    expect(await host.disconnect("a")).toEqual({ observed: true, reason: undefined });
    expect(aOf(published)).toEqual(["published a", "withdrawn a"]);
    expect(await statesOf(host)).toMatchObject({ a: "authorization_required" });
    expect((await agentOf(host).call("a_echo")).error).toBeDefined();
    const snapshot = JSON.parse(await (await control(gateway, "GET", "connector-authorizations/snapshot")).text());
    expect(JSON.stringify(snapshot)).not.toContain('"connected"');
    // And again: nothing is there to take away.
    expect(await host.disconnect("a")).toEqual({ observed: true, reason: undefined });
    const again = await host.authorize("a", { secret: KEY });
    expect(await again.result).toMatchObject({ published: true });
    expect(aOf(published)).toEqual(["published a", "withdrawn a", "published a"]);
  });

  it("P-12, P-6: does not wait for a snapshot, and no other connector is touched", async () => {
    const { gateway, host, published } = await withSecrets();
    await (
      await host.authorize("a", { secret: KEY })
    ).result;
    await (
      await host.authorize("b", { secret: KEY })
    ).result;
    await fault(gateway, { kind: "status", status: 503, on: "snapshot", times: 100 });
    expect(await host.disconnect("a")).toEqual({ observed: true, reason: undefined });
    expect(await statesOf(host)).toMatchObject({ a: "authorization_required", b: "ready" });
    expect(kindsOf(published)).not.toContain("withdrawn b");
  });

  it("P-12: ends a flow of the connector", async () => {
    const { host } = await withProvider();
    const started = await host.authorize("a");
    expect(await host.disconnect("a")).toMatchObject({ observed: true });
    await expect(started.result).rejects.toMatchObject({ details: { reason: "disconnected" } });
  });
});

describe("P-10: what is at rest", () => {
  it("P-10 ★: no secret and no page is in the file, the rows or what is logged", async () => {
    const stateDirectory = await parties.folder();
    const { gateway, host, logged } = await withSecrets({}, stateDirectory);
    const failed = await host.authorize("a", { secret: "other-key-91c2" });
    await expect(failed.result).rejects.toMatchObject({ details: { reason: "provider_failed" } });
    await (
      await host.authorize("a", { secret: KEY })
    ).result;
    const rows = await host.authorizations();
    await host.close();
    const entries = await readdir(stateDirectory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
    expect(files).toContain("host.db");
    const texts = await Promise.all(files.map((name) => readFile(join(stateDirectory, name), "latin1")));
    const file = texts.join("");
    const said = JSON.stringify([logged, rows], (_, value: unknown) => (typeof value === "bigint" ? "" : value));
    for (const text of [KEY, "other-key", gateway.origin]) expect(file).not.toContain(text);
    for (const text of [KEY, "other-key"]) expect(said).not.toContain(text);
    const store = await openSqliteStore({ directory: stateDirectory });
    expect(await store.read((tx) => tx.flows.list("ada"))).toHaveLength(2);
    await store.close();
  });
});
