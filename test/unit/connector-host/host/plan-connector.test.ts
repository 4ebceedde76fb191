import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuthorizationState, ProjectionRow } from "../../../../src/auth-projection/index.js";
import { InstalledConnectors } from "../../../../src/connector-host/host/installed-connectors.js";
import {
  type ConnectorFacts,
  findObstacle,
  planConnector,
  readConnection,
} from "../../../../src/connector-host/host/plan-connector.js";
import type { Desired } from "../../../../src/reconcile/index.js";
import { releaseOf } from "../../../support/releases.js";

const installed = new InstalledConnectors([releaseOf("files"), releaseOf("open", { authorization: { kind: "none" } })]);

function projection(changes: Partial<ProjectionRow> = {}): ProjectionRow {
  return {
    accountId: "ada",
    connectorKey: "files",
    connectorVersion: "1.0.0",
    state: "connected",
    connectionId: "c-1",
    connectionVersion: 4n,
    epoch: "-",
    revision: 9n,
    quarantined: undefined,
    updatedAt: 0,
    ...changes,
  };
}

function facts(changes: Partial<ConnectorFacts> = {}, key = "files"): ConnectorFacts {
  const connector = installed.get(key);
  if (connector === undefined) throw new Error(`no ${key}`);
  return { connector, isReady: true, isRefused: false, projection: projection(), ...changes };
}

const desiredOf = (of: ConnectorFacts): Desired => ({ generation: 1, ...planConnector(of, undefined) });

describe("planConnector", () => {
  it("P-7, H-9: a connected connector of a ready account runs", () => {
    const plan = planConnector(facts(), undefined);
    expect(plan).toMatchObject({ enabled: true, transition: "revoke" });
    expect(readConnection(plan.identity)).toMatchObject({ connectionId: "c-1", connectionVersion: 4n });
  });

  it.each<[Partial<ConnectorFacts>, string]>([
    [{ isReady: false }, "account_not_ready"],
    [{ projection: undefined }, "authorization_required"],
    [{ projection: projection({ state: "disconnected" }) }, "authorization_required"],
    [{ projection: projection({ state: "expired" }) }, "reauthorization_required"],
    [{ projection: projection({ connectorVersion: "2.0.0" }) }, "release_mismatch"],
    [{ projection: projection({ connectorVersion: undefined }) }, "release_mismatch"],
  ])("P-2, P-7: %# does not run, and is revoked", (changes, obstacle) => {
    expect(findObstacle(facts(changes))).toBe(obstacle);
    expect(planConnector(facts(changes), desiredOf(facts()))).toMatchObject({ enabled: false, transition: "revoke" });
  });

  it("P-1: while the account's credentials are refused, what runs goes on and nothing new begins", () => {
    const refused = facts({ isRefused: true });
    expect(planConnector(refused, undefined).enabled).toBe(false);
    expect(planConnector(refused, desiredOf(facts({ projection: undefined }))).enabled).toBe(false);
    expect(planConnector(refused, desiredOf(facts()))).toMatchObject({ enabled: true });
    expect(planConnector(facts({ isRefused: true, projection: undefined }), desiredOf(facts())).enabled).toBe(false);
  });

  it("P-8: a connector without authorization needs the login, and no snapshot", () => {
    const plan = planConnector(facts({ isReady: false, projection: undefined }, "open"), undefined);
    expect(plan.enabled).toBe(true);
    expect(readConnection(plan.identity)?.connectionId).toBeNull();
  });

  it("R-1 ★ item 1: a new token of the same connection is a new identity that supersedes; nothing new is none", () => {
    const before = desiredOf(facts());
    const renewed = planConnector(facts({ projection: projection({ connectionVersion: 5n }) }), before);
    expect(renewed.identity).not.toBe(before.identity);
    expect(renewed.transition).toBe("supersede");
    expect(planConnector(facts({ projection: projection({ revision: 10n }) }), before).identity).toBe(before.identity);
  });

  it("H-13: another default connection revokes", () => {
    const plan = planConnector(facts({ projection: projection({ connectionId: "c-2" }) }), desiredOf(facts()));
    expect(plan).toMatchObject({ enabled: true, transition: "revoke" });
  });

  it("H-13: coming back after it was disabled revokes", () => {
    const disabled = desiredOf(facts({ isReady: false }));
    expect(planConnector(facts(), disabled)).toMatchObject({ enabled: true, transition: "revoke" });
  });

  it("R-1: the identity tells apart what differs, and is read back", () => {
    const states = fc.constantFrom<AuthorizationState>("connected", "expired", "disconnected");
    const row = fc.record({
      state: states,
      connectionId: fc.string({ minLength: 1 }),
      connectionVersion: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    });
    const property = fc.property(row, row, (a, b) => {
      const [first, second] = [a, b].map((changes) =>
        planConnector(facts({ projection: projection(changes) }), undefined),
      );
      if (first?.enabled === true)
        expect(readConnection(first.identity)).toMatchObject({
          connectionId: a.connectionId,
          connectionVersion: a.connectionVersion,
        });
      else expect(readConnection(first?.identity ?? "")).toBeUndefined();
      const isSame =
        a.state === b.state &&
        (a.state !== "connected" || (a.connectionId === b.connectionId && a.connectionVersion === b.connectionVersion));
      expect(first?.identity === second?.identity).toBe(isSame);
    });
    fc.assert(property, { seed: 5, numRuns: 300 });
  });

  it.each([
    "",
    "{",
    "[]",
    "[1,2,3,4]",
    '["d","connected","c","-1"]',
    '["d","connected",1,"1"]',
    '["d","expired","c","1"]',
  ])("reads nothing from %j", (identity) => expect(readConnection(identity)).toBeUndefined());
});

describe("InstalledConnectors", () => {
  it("H-4: two releases of one key are refused by name", () => {
    expect(() => new InstalledConnectors([releaseOf("a"), releaseOf("b"), releaseOf("a")])).toThrow(
      expect.objectContaining({
        code: "invalid_release",
        details: { member: "connectorId", reason: "used by two releases" },
      }),
    );
  });

  it("H-1: a bad release is refused", () => {
    expect(() => new InstalledConnectors([releaseOf("a", { endpoint: "https://x.test" })])).toThrow(
      expect.objectContaining({ code: "invalid_release", details: expect.objectContaining({ member: "endpoint" }) }),
    );
  });
});
