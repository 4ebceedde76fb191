import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { LoginGuard } from "../../../../../src/auth-projection/index.js";
import { Leases } from "../../../../../src/connector-host/relay/desktop/leases.js";
import { relayLogins } from "../../../../../src/connector-host/relay/desktop/relay-logins.js";
import {
  type RelayServerOptions,
  resolveRelayServerOptions,
} from "../../../../../src/connector-host/relay/desktop/relay-server-options.js";
import { FakeClock } from "../../../../support/fake-clock.js";

const CONNECTORS = [{ connectorKey: "docs", releaseDigest: "d", version: "1.0.0" }];

function setUp(options: Partial<RelayServerOptions> = {}) {
  const clock = new FakeClock();
  const guard = new LoginGuard({ authorize: () => ({ Cookie: "c" }) });
  const logins = relayLogins(guard);
  const login = guard.signIn("acc-1");
  const config = resolveRelayServerOptions({ baseUrl: "https://gateway.example", logins, clock, ...options });
  return { clock, guard, login, leases: new Leases(config) };
}

const withBearer = (bearer: string) => ({ authorization: `Bearer ${bearer}` });

describe("H-7: leases", () => {
  it("are found by their bearer, of which only a hash is kept", () => {
    const { leases } = setUp();
    const [one, two] = [0, 0].map(() => leases.grant({ accountId: "acc-1", connectors: CONNECTORS }));
    const found = leases.match(withBearer(two?.bearer ?? ""));
    expect(found?.id).toBe(two?.leaseId);
    expect(found?.terms).toMatchObject({ accountId: "acc-1", loginGeneration: 1 });
    expect(Buffer.from(two?.bearer ?? "", "base64url")).toHaveLength(32);
    expect(JSON.stringify(found)).not.toContain(two?.bearer);
    expect(one?.bearer).not.toBe(two?.bearer);
    for (const headers of [{}, withBearer("x"), withBearer(two?.leaseId ?? ""), { authorization: two?.bearer ?? "" }])
      expect(leases.match(headers)).toBeUndefined();
  });

  it("end in time, and what runs under them in the same turn", () => {
    const { clock, leases } = setUp();
    const { bearer, leaseId } = leases.grant({ accountId: "acc-1", connectors: CONNECTORS, lifetimeMs: 1_000 });
    const ends: string[] = [];
    leases.match(withBearer(bearer))?.add({ leaseEnded: (end) => ends.push(end) });
    clock.step(999);
    expect([leases.size, leases.requests, ends]).toEqual([1, 1, []]);
    expect(leases.renew(leaseId, 1_000)).toBe(true);
    clock.step(999);
    expect(ends).toEqual([]);
    clock.step(1);
    expect(ends).toEqual(["expired"]);
    expect(leases.match(withBearer(bearer))).toBeUndefined();
    expect([leases.size, clock.pending]).toEqual([0, 0]);
    expect([leases.renew(leaseId, 1_000), leases.revoke(leaseId)]).toEqual([false, false]);
  });

  it("are not good beyond their time though the timer is late, and what runs ends then", () => {
    let now = 0;
    const late = { now: () => now, schedule: () => () => undefined };
    const { leases } = setUp({ clock: late });
    const { bearer } = leases.grant({ accountId: "acc-1", connectors: CONNECTORS, lifetimeMs: 1_000 });
    const ends: string[] = [];
    now = 999;
    leases.match(withBearer(bearer))?.add({ leaseEnded: (end) => ends.push(end) });
    now = 1_000;
    expect(leases.match(withBearer(bearer))).toBeUndefined();
    expect([ends, leases.size]).toEqual([["expired"], 0]);
  });

  it("last an hour unless something else is said", () => {
    const { clock, leases } = setUp();
    leases.grant({ accountId: "acc-1", connectors: CONNECTORS });
    leases.grant({ accountId: "acc-1", connectors: CONNECTORS, lifetimeMs: Infinity });
    clock.step(3_600_000);
    expect(leases.size).toBe(1);
  });

  it("P-8: end with their login, though the same account signs in again", () => {
    const { guard, leases } = setUp();
    const { bearer } = leases.grant({ accountId: "acc-1", connectors: CONNECTORS });
    const ends: string[] = [];
    leases.match(withBearer(bearer))?.add({ leaseEnded: (end) => ends.push(end) });
    guard.signIn("acc-1");
    expect(ends).toEqual(["login_ended"]);
    expect(leases.size).toBe(0);
    const again = leases.grant({ accountId: "acc-1", connectors: CONNECTORS });
    expect(leases.match(withBearer(again.bearer))?.terms.loginGeneration).toBe(2);
  });

  it("are given to no account that is signed out, and not beyond their number, after a close to nobody", () => {
    const { guard, leases } = setUp({ maxLeases: 2 });
    const grant = (accountId = "acc-1") => leases.grant({ accountId, connectors: CONNECTORS });
    expect(() => grant("acc-2")).toThrowError(expect.objectContaining({ code: "account_not_ready" }));
    const first = grant();
    grant();
    expect(() => grant()).toThrowError(
      expect.objectContaining({ code: "limit_exceeded", details: { option: "maxLeases", limit: 2 } }),
    );
    expect(leases.revoke(first.leaseId)).toBe(true);
    grant();
    leases.close();
    expect(leases.size).toBe(0);
    expect(() => grant()).toThrowError(expect.objectContaining({ code: "cancelled" }));
    guard.signOut();
  });

  it("F-8, H-16: a thousand of them leave nothing", () => {
    const { clock, guard, leases, login } = setUp();
    const signal = guard.signalOf(login);
    for (let i = 0; i < 1_000; i += 1) {
      const held = Array.from({ length: 20 }, () => leases.grant({ accountId: "acc-1", connectors: CONNECTORS }));
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
      for (const { leaseId } of held) leases.revoke(leaseId);
    }
    expect([leases.size, clock.pending, getEventListeners(signal, "abort").length]).toEqual([0, 0, 0]);
  });
});

describe("H-7: the options of the desktop half", () => {
  it.each([
    [{ listen: { host: "0.0.0.0" } }, "invalid_options"],
    [{ listen: { host: "::" } }, "invalid_options"],
    [{ listen: { host: "0:0:0:0:0:0:0:0" } }, "invalid_options"],
    [{ listen: { host: "" } }, "invalid_options"],
    [{ listen: { host: "desktop.example" } }, "invalid_options"],
    [{ listen: { hots: "127.0.0.1" } }, "invalid_options"],
    [{ baseUrl: "http://gateway.example" }, "invalid_url"],
    [{ versionHeader: "Mcp-Version" }, "invalid_header"],
    [{ maxLeases: 0 }, "invalid_options"],
    [{ leaseLifetimeMs: 0 }, "invalid_options"],
    [{ admit: true }, "invalid_options"],
    [{ bearer: "x" }, "invalid_options"],
  ])("refuses %j", (options: object, code) => {
    expect(() => setUp(options)).toThrowError(expect.objectContaining({ code }));
  });

  it.each([{}, { host: "192.168.64.1" }, { host: "::1" }, { host: "localhost", port: 8_080 }, { socketPath: "/x" }])(
    "listens where it is told: %j",
    (listen) => {
      expect(() => setUp({ listen })).not.toThrow();
    },
  );
});
