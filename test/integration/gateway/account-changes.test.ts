import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { parseSnapshot, type Snapshot } from "../../../src/auth-projection/parse-snapshot.js";
import type { Gateway } from "../../../src/gateway/index.js";
import {
  admin,
  authorizingConnector,
  callEcho,
  Cleanup,
  httpConnector,
  json,
  post,
  type Received,
  snapshotOf,
  startCredentialUpstream,
  startGateway,
  startUpstream,
  subscribe,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const NOWHERE = "http://127.0.0.1:9/mcp";
const bySecret = { kind: "secret" } as const;
const target = { accountId: "ada", connectorId: "c" };

/** The snapshot as the other half of the contract reads it. */
async function read(gateway: Gateway, session = "s-ada"): Promise<Snapshot> {
  return parseSnapshot(new Uint8Array(await (await snapshotOf(gateway, session)).arrayBuffer()));
}

async function administer(gateway: Gateway, path: string, body: unknown): Promise<readonly [number, unknown]> {
  const answer = await admin(gateway, "POST", `/admin/${path}`, body);
  return [answer.status, await answer.json()];
}

describe("another connection in use", () => {
  it("P-4: stays connected with another id and a greater version; its credential goes with the next call", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    const { told } = await subscribe(cleanup, gateway);
    const { connection } = await gateway.grant("ada", "c", "key-of-work");
    const work = connection?.connectionId ?? "";
    const home = await gateway.addConnection("ada", "c", "key-of-home");
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-work");
    expect((await read(gateway)).entries).toMatchObject([{ connectionId: work, connectionVersion: 1n }]);
    const switched = await gateway.switchConnection("ada", "c", home);
    expect(switched).toMatchObject({ changed: true, connection: { state: "connected", connectionId: home } });
    expect((await read(gateway)).entries).toMatchObject([
      { state: "connected", connectionId: home, connectionVersion: 2n },
    ]);
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-home");
    await expect.poll(() => told).toHaveLength(3);
    await gateway.switchConnection("ada", "c");
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-work");
    expect((await read(gateway)).entries).toMatchObject([{ connectionId: work, connectionVersion: 3n }]);
    expect((await gateway.switchConnection("ada", "c", "nothing")).changed).toBe(false);
  });

  it("P-4: the operator's side of it", async () => {
    const gateway = await startGateway(cleanup, [httpConnector("c", NOWHERE, "account")]);
    const connectionId = expect.any(String);
    expect(await administer(gateway, "switch-connection", target)).toEqual([
      200,
      { changed: false, revision: "1", state: "disconnected" },
    ]);
    await gateway.grant("ada", "c");
    const [status, added] = await administer(gateway, "add-connection", target);
    const addedConnectionId = String(Reflect.get(Object(added), "addedConnectionId"));
    expect([status, added]).toMatchObject([200, { changed: true, revision: "3", connectionVersion: "1" }]);
    expect(addedConnectionId).not.toBe(Reflect.get(Object(added), "connectionId"));
    const state = JSON.parse(await (await admin(gateway, "GET", "/admin/state")).text());
    expect(state.accounts[0].connectors).toMatchObject([{ otherConnectionIds: [addedConnectionId] }]);
    const named = { ...target, connectionId: addedConnectionId };
    expect(await administer(gateway, "switch-connection", named)).toEqual([
      200,
      { changed: true, revision: "4", state: "connected", connectionId: addedConnectionId, connectionVersion: "2" },
    ]);
    expect(await administer(gateway, "revoke", target)).toMatchObject([200, { state: "disconnected", connectionId }]);
  });

  it("H-6: leaves calls under way alone", async () => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    let finish = (): void => undefined;
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await new Promise<void>((resolve) => (finish = resolve));
      json(request.response, request.id, '{"resultType":"complete","content":[]}');
    });
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await gateway.grant("ada", "c", "one");
    const call = post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    await arrival;
    await gateway.switchConnection("ada", "c");
    finish();
    expect((await call).status).toBe(200);
  });
});

describe("going back", () => {
  it("P-3: an account goes back to a revision under a new epoch; its calls and its hint connections end with it", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    const [ada, bob] = [await subscribe(cleanup, gateway), await subscribe(cleanup, gateway, "s-bob")];
    const before = await read(gateway);
    await gateway.grant("ada", "c", "key");
    expect(await callEcho(gateway, "c")).toBe("Bearer key");
    const closed = once(ada.socket, "close");
    expect(await gateway.restore({ accountId: "ada", revision: 1n })).toBe(true);
    const after = await read(gateway);
    expect([after.revision, after.entries]).toEqual([before.revision, before.entries]);
    expect(after.epoch).not.toBe(before.epoch);
    expect(await callEcho(gateway, "c")).toBe("428 -33001");
    expect((await closed)[0]).toBe(1012);
    expect(bob.socket.readyState).toBe(bob.socket.OPEN);
    expect((await read(gateway, "s-bob")).epoch).toBe(before.epoch);
    expect(await gateway.restore({ accountId: "ada", revision: 2n })).toBe(false);
  });

  it("H-6, P-3: a call under way ends when its connection is no more", async () => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await request.closed;
    });
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await gateway.grant("ada", "c", "key");
    const call = callEcho(gateway, "c");
    await arrival;
    await gateway.restore({ accountId: "ada", revision: 1n });
    expect(await call).toBe("428 -33001");
  });

  it("P-3: the connection that was in use then serves the next call", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await gateway.grant("ada", "c", "key-of-work");
    await gateway.addConnection("ada", "c", "key-of-home");
    const { revision } = await read(gateway);
    await gateway.switchConnection("ada", "c");
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-home");
    await gateway.restore({ accountId: "ada", revision });
    expect(await callEcho(gateway, "c")).toBe("Bearer key-of-work");
  });

  it("P-3: all accounts go back at once, and what was revoked since is connected again", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await gateway.grant("ada", "c", "key");
    await gateway.grant("bob", "c", "key");
    await gateway.revoke("ada", "c");
    const epochs = [(await read(gateway)).epoch];
    const [status, body] = await administer(gateway, "restore", { revision: "2" });
    expect([status, body]).toEqual([200, { epoch: expect.any(String) }]);
    for (const session of ["s-ada", "s-bob"]) {
      const { entries, epoch, revision } = await read(gateway, session);
      expect([revision, entries[0]?.state]).toEqual([2n, "connected"]);
      epochs.push(epoch);
    }
    expect(new Set(epochs).size).toBe(2);
    // What was revoked has lost its credential.
    expect(await callEcho(gateway, "c")).toBe("none");
  });

  it("P-3: a reset counts from 1 under a new epoch, and leaves connections and calls alone", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, bySecret)]);
    await gateway.grant("ada", "c", "key");
    const before = await read(gateway);
    const { socket } = await subscribe(cleanup, gateway);
    const closed = once(socket, "close");
    expect(await administer(gateway, "reset-epoch", { accountId: "ada" })).toEqual([
      200,
      { epoch: expect.any(String), revision: "1" },
    ]);
    await closed;
    const after = await read(gateway);
    expect([after.revision, after.entries]).toEqual([1n, before.entries]);
    expect(after.epoch).not.toBe(before.epoch);
    expect(await callEcho(gateway, "c")).toBe("Bearer key");
    await gateway.resetEpoch();
    expect((await read(gateway)).epoch).not.toBe(after.epoch);
  });

  it.each([
    ["restore", { revision: "99", accountId: "ada" }, 409, "not_remembered"],
    ["restore", { revision: "-1" }, 400, "bad_request"],
    ["restore", { accountId: "ada" }, 400, "bad_request"],
    ["restore", { revision: 1, accountId: "eve" }, 404, "not_found"],
    ["reset-epoch", { accountId: "eve" }, 404, "not_found"],
    ["drop-hint-connections", { accountId: "eve" }, 404, "not_found"],
    ["switch-connection", { ...target, connectionId: 1 }, 400, "bad_request"],
    ["add-connection", { ...target, connectorId: "open" }, 400, "bad_request"],
  ] as const)("C-5: refuses %s of %j", async (path, body, status, code) => {
    const gateway = await startGateway(cleanup, [
      httpConnector("c", NOWHERE, "account"),
      httpConnector("open", NOWHERE),
    ]);
    expect(await administer(gateway, path, body)).toMatchObject([status, { error: { code } }]);
  });
});
