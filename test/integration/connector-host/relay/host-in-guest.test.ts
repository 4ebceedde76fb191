import { afterEach, expect, it } from "vitest";
import {
  createRelayServer,
  parseRelease,
  RelayFactory,
  releaseDigest,
  relayLogins,
  type RelayServer,
} from "../../../../src/connector-host/index.js";
import { LoginGuard } from "../../../../src/auth-projection/index.js";
import { releaseOf } from "../../../support/releases.js";
import { agentOf, arrived, becomes, HostParties, holding, kindsOf } from "../host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const KEYS = ["docs", "mail"];
const CONNECTORS = KEYS.map((connectorKey) => ({
  connectorKey,
  releaseDigest: releaseDigest(parseRelease(releaseOf(connectorKey))),
  version: "1.0.0",
}));
const VERDICT = "sh.tutti/delivery";

/** A host in a guest: it reads the account's authorization with a pass of its own, and reaches connectors by the relay. */
async function setUp() {
  const gateway = await parties.gateway({ docs: 1, mail: 1 });
  const guard = new LoginGuard({ authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) });
  guard.signIn("acc-1");
  const lease = { bearer: "" };
  const startRelay = async (port = 0): Promise<RelayServer> => {
    const relay = await createRelayServer({ baseUrl: gateway.url, logins: relayLogins(guard), listen: { port } });
    parties.opened.push(relay);
    lease.bearer = relay.grant({ accountId: "acc-1", connectors: CONNECTORS }).bearer;
    return relay;
  };
  const relay = await startRelay();
  const url = "url" in relay.address ? String(relay.address.url) : "";
  const { host, published } = await parties.host(gateway, KEYS, {
    accounts: { authorize: () => ({ Authorization: "Bearer pass-of-the-guest" }) },
    factory: () =>
      new RelayFactory({ relay: { url }, bearer: () => lease.bearer, clientInfo: { name: "guest", version: "1.0.0" } }),
    wakeBudgetMs: 500,
  });
  host.signIn("acc-1");
  await becomes(host, { docs: "ready", mail: "ready" });
  return { gateway, guard, host, published, relay, startRelay, port: Number(new URL(url).port) };
}

it("H-7, H-9, H-26: a host in a guest publishes and calls over the relay, and never has the session", async () => {
  const { gateway, host, published } = await setUp();
  expect(kindsOf(published).toSorted()).toEqual(["published docs", "published mail"]);
  const agent = agentOf(host);
  expect((await agent.list()).names.toSorted()).toEqual(["docs_echo", "mail_echo"]);
  expect((await agent.call("docs_echo", { a: 1 })).result).toMatchObject({ content: [{ text: '{"a":1}' }] });
  for (const { request } of gateway.calls) {
    expect(request.headers.cookie).toBe("session=acc-1");
    expect(request.headers.authorization).toBeUndefined();
  }
});

it("H-7: it survives a restart of the relay, with honest verdicts meanwhile", async () => {
  const { gateway, host, relay, startRelay, port, published } = await setUp();
  const agent = agentOf(host);
  const held = holding(gateway, "docs", "tools/call");
  const cut = agent.call("docs_echo");
  await arrived(held);
  await relay.close();
  expect((await cut).error?.data).toMatchObject({ [VERDICT]: { delivery: "unknown", code: "connection_broken" } });
  const meanwhile = await agent.call("mail_echo");
  expect(meanwhile.error?.data).toMatchObject({ [VERDICT]: { delivery: "not_sent", code: "connect_failed" } });
  const calls = gateway.calls.length;

  // What is to be made anew while there is no relay waits for it.
  gateway.connect(2, { docs: 1, mail: 2 });
  host.refresh();
  await expect
    .poll(async () => (await host.status()).find(({ connectorKey }) => connectorKey === "mail")?.state)
    .not.toBe("ready");
  expect(gateway.calls.length).toBe(calls);
  await startRelay(port);
  await becomes(host, { docs: "ready", mail: "ready" });
  expect((await agent.call("mail_echo", { b: 2 })).result).toMatchObject({ content: [{ text: '{"b":2}' }] });
  expect(kindsOf(published).at(-1)).toBe("replaced mail");
});

it("H-7: a lease that ends takes the guest's requests, and gives the guest nothing to go around it", async () => {
  const { gateway, guard, host, relay } = await setUp();
  const agent = agentOf(host);
  const held = holding(gateway, "docs", "tools/call");
  const cut = agent.call("docs_echo");
  await arrived(held);
  guard.signOut();
  expect(relay.counts).toEqual({ leases: 0, requests: 0 });
  expect((await cut).error?.data).toMatchObject({ [VERDICT]: { delivery: "unknown" } });
  const calls = gateway.calls.length;
  expect((await agent.call("mail_echo")).error?.data).toMatchObject({
    [VERDICT]: { delivery: "not_sent", code: "relay_refused", reason: "unauthorized" },
  });
  expect(JSON.parse((await agent.send("tools/list")).text)).toMatchObject({ error: expect.anything() });
  expect(gateway.calls.length).toBe(calls);
});
