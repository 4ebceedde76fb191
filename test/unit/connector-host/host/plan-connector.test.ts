import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuthorizationState, ProjectionRow } from "../../../../src/auth-projection/index.js";
import { deviceEntry, installedRelease, type ReleaseEntry } from "../../../../src/connector-host/catalog/index.js";
import { programConnector, registeredConnector } from "../../../../src/connector-host/device/index.js";
import {
  declareRegistration,
  declareStdioConnector,
  parseStdioConnector,
} from "../../../../src/connector-host/registration/index.js";
import {
  type AccountFacts,
  findObstacle,
  planConnector,
  readConnection,
} from "../../../../src/connector-host/host/plan-connector.js";
import type { Desired } from "../../../../src/reconcile/index.js";
import { releaseEntryOf } from "../../../support/release-entries.js";
import { releaseOf } from "../../../support/releases.js";

const FILES = releaseEntryOf("files");
const OPEN = releaseEntryOf("open", { authorization: { kind: "none" } });

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

function facts(changes: Partial<AccountFacts> = {}, entry = FILES): AccountFacts {
  return { entry, isReady: true, isRefused: false, projection: projection(), ...changes };
}

/** The connector with a second release, which is to take the place of the first. */
function updating(entry: ReleaseEntry, changes: object = {}): ReleaseEntry {
  return { ...entry, candidate: installedRelease(releaseOf(entry.key, { version: "2.0.0", ...changes })) };
}

const digestIn = (of: AccountFacts): string | undefined =>
  readConnection(planConnector(of, undefined).identity)?.digest;

const desiredOf = (of: AccountFacts): Desired => ({ generation: 1, ...planConnector(of, undefined) });

describe("planConnector", () => {
  it("P-7, H-9: a connected connector of a ready account runs", () => {
    const plan = planConnector(facts(), undefined);
    expect(plan).toMatchObject({ enabled: true, transition: "revoke" });
    expect(readConnection(plan.identity)).toMatchObject({ connectionId: "c-1", connectionVersion: 4n });
  });

  it.each<[Partial<AccountFacts>, string]>([
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
    const plan = planConnector(facts({ isReady: false, projection: undefined }, OPEN), undefined);
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

describe("planConnector, between two releases", () => {
  const entry = updating(FILES);

  it("H-1, P-2: the snapshot names which of the two runs; another one runs neither", () => {
    expect(digestIn(facts({ entry }))).toBe(entry.current?.digest);
    const named = facts({ entry, projection: projection({ connectorVersion: "2.0.0" }) });
    expect(digestIn(named)).toBe(entry.candidate?.digest);
    const other = facts({ entry, projection: projection({ connectorVersion: "3.0.0" }) });
    expect(findObstacle(other)).toBe("release_mismatch");
    expect(planConnector(other, undefined).enabled).toBe(false);
  });

  it("H-1, H-13: the candidate supersedes what runs by the same connection, and once it is current nothing is new", () => {
    const named = facts({ entry, projection: projection({ connectorVersion: "2.0.0" }) });
    const plan = planConnector(named, desiredOf(facts()));
    expect(plan).toMatchObject({ enabled: true, transition: "supersede" });
    const current = { ...entry, current: entry.candidate, candidate: undefined };
    expect(planConnector({ ...named, entry: current }, undefined).identity).toBe(plan.identity);
  });

  it("H-1: without a snapshot's word, of a connector that needs none the candidate runs", () => {
    const open = updating(OPEN, { authorization: { kind: "none" } });
    const unnamed = facts({ isReady: false, projection: undefined }, open);
    expect(digestIn(unnamed)).toBe(open.candidate?.digest);
    const closing = updating(OPEN, { authorization: { kind: "oauth2", profile: "p" } });
    expect(digestIn(facts({ isReady: false, projection: undefined }, closing))).toBe(OPEN.current?.digest);
  });
});

describe("planConnector, switched", () => {
  const unreadable: ReleaseEntry = { ...FILES, current: undefined };

  it.each<[string, ReleaseEntry]>([
    ["switched_off", { ...FILES, isOn: false }],
    ["switched_off", { ...unreadable, isOn: false }],
    ["switched_off", { ...FILES, isOn: false, isLeaving: true }],
    ["uninstalling", { ...FILES, isLeaving: true }],
    ["invalid_release", unreadable],
  ])("H-11, H-1: %s, whatever the account has", (obstacle, entry) => {
    expect(findObstacle(facts({ entry }))).toBe(obstacle);
    expect(planConnector(facts({ entry }), desiredOf(facts()))).toMatchObject({ enabled: false, transition: "revoke" });
  });
});

describe("planConnector, for a connector of the device", () => {
  const ID = "00000000-0000-8000-8000-000000000000";
  const server = (endpoint: string) =>
    registeredConnector(declareRegistration({ slug: "docs", displayName: "Docs", settings: { endpoint } }, ID));
  const entry = deviceEntry(server("https://a.test/mcp"), "a test");
  const program = { key: "files", displayName: "Files", command: "files" };

  it("P-8, H-3: one that is active runs; its settings are its identity, and others revoke", () => {
    const plan = planConnector({ entry }, undefined);
    expect(plan).toEqual({ enabled: true, identity: entry.connector.digest, transition: "revoke" });
    const moved = planConnector({ entry: deviceEntry(server("https://b.test/mcp"), "") }, { generation: 1, ...plan });
    expect(moved).toMatchObject({ enabled: true, transition: "revoke" });
    expect(moved.identity).not.toBe(plan.identity);
  });

  it("H-3, H-11: one that is paused or switched off does not", () => {
    const paused = deviceEntry(programConnector(parseStdioConnector(program)), "");
    expect(findObstacle({ entry: paused })).toBe("paused");
    expect(findObstacle({ entry: deviceEntry(programConnector(declareStdioConnector(program)), "") })).toBeUndefined();
    expect(findObstacle({ entry: { ...entry, isOn: false } })).toBe("switched_off");
    for (const each of [paused, { ...entry, isOn: false }]) {
      expect(planConnector({ entry: each }, undefined)).toMatchObject({ enabled: false, transition: "revoke" });
    }
  });
});
