import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/gateway/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { admin, Cleanup, httpConnector, post, startGateway, startUpstream } from "./support.js";

const cleanup = new Cleanup();
let gateway: Gateway;

beforeEach(async () => {
  const upstream = await startUpstream(cleanup, () => undefined);
  gateway = await startGateway(cleanup, [
    httpConnector("private", upstream.url, "account"),
    httpConnector("open", upstream.url),
  ]);
});
afterEach(() => cleanup.run());

const target = { accountId: "ada", connectorId: "private" };
const list = { connectorId: "open", method: "tools/list" };

describe("the admin side", () => {
  it("C-5: grants, expires and revokes, and says what came of it", async () => {
    const statusOf = async (): Promise<number> => (await post(gateway, { ...list, connectorId: "private" })).status;
    expect(await statusOf()).toBe(428);
    const connectionId = expect.any(String);
    for (const [path, outcome, status] of [
      ["grant", { changed: true, revision: "2", state: "connected", connectionId, connectionVersion: "1" }, 200],
      ["expire", { changed: true, revision: "3", state: "reauth_required" }, 428],
      ["expire", { changed: false, revision: "3", state: "reauth_required" }, 428],
      ["grant", { changed: true, revision: "4", state: "connected", connectionVersion: "2" }, 200],
      ["revoke", { changed: true, revision: "5", state: "disconnected" }, 428],
    ] as const) {
      const answer = await admin(gateway, "POST", `/admin/${path}`, target);
      expect([answer.status, await answer.json()]).toMatchObject([200, outcome]);
      expect(await statusOf()).toBe(status);
    }
  });

  it("C-5: shows the whole state, and no secret", async () => {
    await admin(gateway, "POST", "/admin/grant", target);
    await admin(gateway, "POST", "/admin/faults", { kind: "delay", ms: 5, connectorId: "nothing" });
    await (await post(gateway, list)).text();
    const text = await (await admin(gateway, "GET", "/admin/state")).text();
    expect(JSON.parse(text)).toEqual({
      epoch: expect.any(String),
      connectors: [
        { connectorId: "private", connectorVersion: "1.0.0", authorization: "account" },
        { connectorId: "open", connectorVersion: "1.0.0", authorization: "none" },
      ],
      accounts: [
        {
          accountId: "ada",
          epoch: expect.any(String),
          revision: "2",
          connectors: [
            { connectorId: "private", state: "connected", connectionId: expect.any(String), connectionVersion: "1" },
          ],
        },
        { accountId: "bob", epoch: expect.any(String), revision: "1", connectors: [] },
      ],
      sessions: [],
      upstreams: [{ accountId: "ada", connectorId: "open", state: "open", users: 0 }],
      faults: [{ kind: "delay", ms: 5, connectorId: "nothing", times: 1 }],
    });
    expect(text).not.toContain("s-ada");
  });

  it.each([
    ["no bearer", { headers: {} }, 401],
    ["an account's session", { headers: { Cookie: "session=s-ada" } }, 401],
    ["a wrong bearer", { headers: { Authorization: "Bearer admin-bearer-of-the-other" } }, 401],
    [
      "a foreign origin",
      { headers: { Authorization: "Bearer admin-bearer-of-the-tests", Origin: "https://evil.test" } },
      403,
    ],
  ])("C-5: is closed to %s", async (_what, init, status) => {
    const answer = await fetch(`${gateway.adminOrigin ?? ""}/admin/state`, init);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  });

  it("C-5: its bearer opens nothing on the public side, which has no admin paths", async () => {
    const answer = await fetch(`${gateway.origin}/admin/state`, {
      headers: { Authorization: "Bearer admin-bearer-of-the-tests" },
    });
    expect(answer.status).toBe(404);
  });

  it.each([
    ["no JSON", "/admin/grant", "{", "The body is not JSON", undefined],
    ["a missing member", "/admin/grant", { accountId: "ada" }, "The body can't be used", ["connectorId"]],
    [
      "a wrong type",
      "/admin/revoke",
      { accountId: 1, connectorId: "private" },
      "The body can't be used",
      ["accountId"],
    ],
    ["an unknown member", "/admin/expire", { ...target, connectorID: "x" }, "The body can't be used", [""]],
    [
      "a connector without authorization",
      "/admin/grant",
      { ...target, connectorId: "open" },
      "The connector needs no authorization",
      undefined,
    ],
    ["an unknown fault", "/admin/faults", { kind: "explode" }, "The body can't be used", ["kind"]],
    ["a fault without its status", "/admin/faults", { kind: "status" }, "The body can't be used", ["status"]],
  ])("C-5: refuses %s with 400 and says what is wrong", async (_what, path, body, message, members) => {
    const answer = await admin(gateway, "POST", path, body);
    const issues = members?.map((member) => ({ member, reason: expect.any(String) }));
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: { code: "bad_request", message, ...(issues === undefined ? {} : { issues }) } },
    ]);
  });

  it.each([
    ["an unknown account", "POST", "/admin/grant", { ...target, accountId: "eve" }, 404],
    ["an unknown connector", "POST", "/admin/grant", { ...target, connectorId: "nothing" }, 404],
    ["an unknown path", "POST", "/admin/other", undefined, 404],
    ["another method", "GET", "/admin/grant", undefined, 405],
    ["a body over the limit", "POST", "/admin/grant", { ...target, padding: "x".repeat(70_000) }, 413],
  ])("C-5: answers %s: %s %s", async (_what, method, path, body, status) => {
    expect((await admin(gateway, method, path, body)).status).toBe(status);
  });
});

describe("faults", () => {
  const fault = async (body: object): Promise<void> =>
    expect((await admin(gateway, "POST", "/admin/faults", body)).status).toBe(200);

  it("C-5: a status comes without a body, as often as was said, to the connector that was named", async () => {
    await fault({ kind: "status", status: 428, connectorId: "open", times: 2 });
    for (const status of [428, 428, 200]) {
      const answer = await post(gateway, list);
      expect(answer.status).toBe(status);
      if (status === 428) expect(await answer.text()).toBe("");
    }
  });

  it("C-5: a fault for another connector is not met", async () => {
    await fault({ kind: "status", status: 500, connectorId: "private" });
    expect((await post(gateway, list)).status).toBe(200);
  });

  it("C-5: a dropped connection gives no answer at all", async () => {
    await fault({ kind: "drop_connection" });
    await expect(post(gateway, list)).rejects.toThrow();
    expect((await post(gateway, list)).status).toBe(200);
  });

  it("C-5: a delay is waited for", async () => {
    await fault({ kind: "delay", ms: 80 });
    const before = performance.now();
    expect((await post(gateway, list)).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(75);
  });

  it("C-5: a delay does not outlast its caller", async () => {
    const clock = new FakeClock();
    const slow = await startGateway(cleanup, [httpConnector("open", "http://127.0.0.1:9/mcp")], { clock });
    const timers = clock.pending;
    await admin(slow, "POST", "/admin/faults", { kind: "delay", ms: 3_600_000 });
    const abort = new AbortController();
    const answer = post(slow, { ...list, signal: abort.signal });
    await expect.poll(() => clock.pending).toBe(timers + 1);
    abort.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => clock.pending).toBe(timers);
  });

  it("C-5: are forgotten at once when told so", async () => {
    await fault({ kind: "status", status: 500, times: 100 });
    expect((await admin(gateway, "DELETE", "/admin/faults")).status).toBe(204);
    expect((await post(gateway, list)).status).toBe(200);
  });
});
