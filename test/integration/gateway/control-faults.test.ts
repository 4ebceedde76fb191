import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createGateway, type Gateway, type GatewayFault } from "../../../src/gateway/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import {
  admin,
  authorizingConnector,
  beginSession,
  callEcho,
  Cleanup,
  control,
  httpConnector,
  sessionOf,
  snapshotOf,
  startCredentialUpstream,
  startGateway,
  subscribe,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const NOWHERE = "http://127.0.0.1:9/mcp";

function start(clock?: FakeClock): Promise<Gateway> {
  const connectors = [authorizingConnector("c", NOWHERE, { kind: "secret" }), httpConnector("d", NOWHERE, "account")];
  return startGateway(cleanup, connectors, { clock });
}

const snapshotStatus = async (gateway: Gateway, session = "s-ada"): Promise<number | string> =>
  snapshotOf(gateway, session).then(
    ({ status }) => status,
    () => "no answer",
  );

/** How a hint connection begins: 101, or the status of its refusal. */
function hintStatus(gateway: Gateway, session = "s-ada"): Promise<number | string | undefined> {
  const socket = new WebSocket(`${gateway.origin.replace("http", "ws")}/v1/events`, {
    headers: { Cookie: `session=${session}` },
  });
  cleanup.add(() => socket.terminate());
  return new Promise((resolve) => {
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("open", () => resolve(101));
    socket.on("error", () => resolve("no answer"));
  });
}

describe("faults of the control plane", () => {
  it.each<[GatewayFault, number | string]>([
    [{ kind: "status", status: 503, on: "snapshot" }, 503],
    [{ kind: "status", status: 401, on: "any" }, 401],
    [{ kind: "drop_connection", on: "snapshot" }, "no answer"],
  ])("C-5: %j is met by a snapshot, once", async (fault, met) => {
    const gateway = await start();
    gateway.faults.add(fault);
    expect(await snapshotStatus(gateway)).toBe(met);
    expect(await snapshotStatus(gateway)).toBe(200);
  });

  it("C-5: a fault is met only where it is put: by its account, its place, its connector", async () => {
    const gateway = await start();
    gateway.faults.add({ kind: "status", status: 503, on: "snapshot", accountId: "bob" });
    gateway.faults.add({ kind: "status", status: 504, on: "sessions", connectorId: "c" });
    gateway.faults.add({ kind: "status", status: 505, on: "hints" });
    gateway.faults.add({ kind: "status", status: 506 });
    expect(await snapshotStatus(gateway)).toBe(200);
    expect(await snapshotStatus(gateway, "s-bob")).toBe(503);
    expect((await beginSession(gateway, "d")).status).toBe(422);
    expect((await beginSession(gateway, "c")).status).toBe(504);
    expect(await hintStatus(gateway)).toBe(505);
    expect(await hintStatus(gateway)).toBe(101);
    expect(await callEcho(gateway, "c").catch(() => "no JSON")).toBe("no JSON");
    expect(gateway.faults.list()).toEqual([]);
  });

  it("C-5: faults of sessions are met on each step, by the connector of the session", async () => {
    const gateway = await start();
    const { sessionId } = await sessionOf(beginSession(gateway, "c"));
    const path = `connector-authorization-sessions/${sessionId}`;
    gateway.faults.add({ kind: "status", status: 500, on: "sessions", connectorId: "d" });
    gateway.faults.add({ kind: "status", status: 502, on: "sessions", connectorId: "c", times: 4 });
    const statuses = [
      await control(gateway, "GET", path),
      await control(gateway, "DELETE", path),
      await control(gateway, "POST", `${path}/complete`, { secret: { secret: "x" } }),
      await control(gateway, "DELETE", "connectors/c/authorization"),
      await control(gateway, "GET", path),
    ].map(({ status }) => status);
    expect(statuses).toEqual([502, 502, 502, 502, 200]);
  });

  it("C-5: a delay is waited for, by snapshots and by hint connections", async () => {
    const clock = new FakeClock();
    const gateway = await start(clock);
    for (const on of ["snapshot", "hints"] as const) gateway.faults.add({ kind: "delay", ms: 5_000, on });
    let answered = 0;
    const answers = [snapshotStatus(gateway), hintStatus(gateway)].map((status) => {
      return status.then((value) => ((answered += 1), value));
    });
    await expect.poll(() => gateway.faults.list()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(answered).toBe(0);
    await clock.advance(5_000);
    expect(await Promise.all(answers)).toEqual([200, 101]);
  });

  it("C-5: a captive portal is in the way of every path, with and without a session", async () => {
    const gateway = await start();
    gateway.faults.add({ kind: "captive_portal", times: 1_000 });
    const paths = ["v1/connector-authorizations/snapshot", "v1/events", "v1/connectors/c/mcp", "anything"];
    for (const path of paths) {
      const answer = await fetch(`${gateway.origin}/${path}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await answer.text()).toContain("<!doctype html>");
    }
    expect((await beginSession(gateway, "c")).headers.get("content-type")).toContain("text/html");
    expect(await hintStatus(gateway)).toBe(200);
    gateway.faults.clear();
    expect(await snapshotStatus(gateway)).toBe(200);
  });

  it("C-5: a captive portal can send elsewhere, and stand in one place only", async () => {
    const gateway = await start();
    const location = "http://portal.test/login";
    gateway.faults.add({ kind: "captive_portal", location, on: "snapshot" });
    gateway.faults.add({ kind: "captive_portal", location, on: "hints" });
    expect((await beginSession(gateway, "c")).status).toBe(200);
    const answer = await fetch(`${gateway.origin}/v1/connector-authorizations/snapshot`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, location]);
    expect(await hintStatus(gateway)).toBe(302);
    expect(await hintStatus(gateway)).toBe(101);
  });

  it.each([[undefined], ['{"revision":"x"}']])("C-5: a snapshot can be malformed: %s", async (body) => {
    const gateway = await start();
    gateway.faults.add({ kind: "malformed_snapshot", body });
    const answer = await snapshotOf(gateway, "s-ada");
    expect([answer.status, await answer.text()]).toEqual([200, body ?? '{"revision":"1","connectors":[']);
    expect(await snapshotStatus(gateway)).toBe(200);
  });

  it("P-3: a snapshot can be stale: as it was some revisions before", async () => {
    const gateway = await start();
    const bodies = [await (await snapshotOf(gateway, "s-ada")).text()];
    for (let i = 0; i < 3; i += 1) {
      await gateway.grant("ada", "c");
      bodies.push(await (await snapshotOf(gateway, "s-ada")).text());
    }
    gateway.faults.add({ kind: "stale_snapshot" });
    gateway.faults.add({ kind: "stale_snapshot", revisionsBack: 3 });
    gateway.faults.add({ kind: "stale_snapshot", revisionsBack: 4 });
    // One back, three back, more than is remembered, and no fault any more.
    for (const body of [bodies[2], bodies[0], bodies[3], bodies[3]]) {
      expect(await (await snapshotOf(gateway, "s-ada")).text()).toBe(body);
    }
  });

  it("P-9: hints can be suppressed, and hint connections end in their place", async () => {
    const gateway = await start();
    const [ada, bob] = [await subscribe(cleanup, gateway), await subscribe(cleanup, gateway, "s-bob")];
    gateway.faults.add({ kind: "suppress_hint", accountId: "ada", times: 2 });
    await gateway.grant("bob", "c");
    await gateway.grant("ada", "c");
    await gateway.grant("ada", "d");
    await gateway.grant("ada", "c");
    await expect.poll(() => [ada.told.length, bob.told.length]).toEqual([1, 1]);
    expect(ada.told).toMatchObject([{ payload: { revision: "4" } }]);
    gateway.faults.add({ kind: "drop_hint_connection" });
    const closed = once(ada.socket, "close");
    await gateway.grant("ada", "c");
    expect((await closed)[0]).toBe(1006);
    expect([ada.told.length, bob.socket.readyState]).toEqual([1, WebSocket.OPEN]);
  });

  it("P-9: hint connections can be ended at once, of an account or of all", async () => {
    const gateway = await start();
    const [ada, bob] = [await subscribe(cleanup, gateway), await subscribe(cleanup, gateway, "s-bob")];
    const [adaClosed, bobClosed] = [once(ada.socket, "close"), once(bob.socket, "close")];
    expect((await admin(gateway, "POST", "/admin/drop-hint-connections", { accountId: "ada" })).status).toBe(200);
    expect((await adaClosed)[0]).toBe(1006);
    expect(bob.socket.readyState).toBe(WebSocket.OPEN);
    gateway.dropHintConnections();
    expect((await bobClosed)[0]).toBe(1006);
  });

  it("C-5: the operator puts them, sees them and takes them away", async () => {
    const gateway = await start();
    const fault = { kind: "stale_snapshot", accountId: "ada" };
    const put = await admin(gateway, "POST", "/admin/faults", fault);
    expect(await put.json()).toEqual({ faults: [{ ...fault, times: 1 }] });
    expect(gateway.faults.list()).toEqual([{ ...fault, times: 1 }]);
    const refused = await admin(gateway, "POST", "/admin/faults", { kind: "status", status: 500, on: "moon" });
    expect(refused.status).toBe(400);
    await admin(gateway, "DELETE", "/admin/faults");
    expect(gateway.faults.list()).toEqual([]);
  });

  it("C-5: what is no fault is refused with its reason", async () => {
    const gateway = await createGateway({ accounts: [], connectors: [] });
    cleanup.add(() => gateway.close());
    expect(() => gateway.faults.add({ kind: "status", status: 7 })).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        details: { argument: "fault", reason: "status can't be used" },
      }),
    );
  });

  it("C-5: the page that browsers come back to can fail too", async () => {
    const upstream = await startCredentialUpstream(cleanup);
    const gateway = await startGateway(cleanup, [authorizingConnector("c", upstream.url, { kind: "secret" })]);
    gateway.faults.add({ kind: "status", status: 500, on: "callback" });
    const page = `${gateway.origin}/v1/connector-authorizations/callback/c?state=x`;
    expect((await fetch(page)).status).toBe(500);
    expect((await fetch(page)).status).toBe(400);
  });
});
