import { describe, expect, it } from "vitest";
import { type DeviceEntry, deviceEntry } from "../../../../src/connector-host/catalog/index.js";
import { programConnector } from "../../../../src/connector-host/device/index.js";
import { type KnownAtOnce, presumeStatus } from "../../../../src/connector-host/host/presume-status.js";
import { declareStdioConnector, parseStdioConnector } from "../../../../src/connector-host/registration/index.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const PROGRAM = { key: "files", displayName: "Files", command: "files" };
const release = releaseEntryOf("files");
const program: DeviceEntry = deviceEntry(programConnector(declareStdioConnector(PROGRAM)), "");
const paused: DeviceEntry = deviceEntry(programConnector(parseStdioConnector(PROGRAM)), "");

const withdrawn: KnownAtOnce = {
  connectorKey: "files",
  entry: release,
  isPublished: false,
  isSignedIn: true,
  planned: undefined,
  unsettled: undefined,
  isClosing: false,
  now: 9,
};

const demanded = { kind: "demanded", reason: "authorization_required", since: 5 } as const;
const lost = { kind: "lost", reason: "process_exited", since: 5 } as const;

describe("presumeStatus", () => {
  it.each<[string, Partial<KnownAtOnce>, readonly [string, string | undefined, number | undefined]]>([
    ["nothing else is known", {}, ["starting", undefined, 9]],
    ["it is installed no more", { entry: undefined }, ["not_installed", undefined, undefined]],
    ["its switch is off", { entry: { ...release, isOn: false }, isSignedIn: false }, ["disabled", "switched_off", 9]],
    ["nobody is signed in", { isSignedIn: false, isClosing: true }, ["authorization_required", "signed_out", 9]],
    ["it is being uninstalled", { entry: { ...release, isLeaving: true } }, ["disabled", "uninstalling", 9]],
    ["its plan says why", { planned: "release_mismatch" }, ["disabled", "release_mismatch", 9]],
    ["news can't be written", { planned: "account_not_ready" }, ["offline", "account_not_ready", 9]],
    ["its gateway demands it", { unsettled: demanded }, ["authorization_required", "authorization_required", 5]],
    [
      "its gateway demands it, and it is still published",
      { unsettled: demanded, isPublished: true },
      ["authorization_required", "authorization_required", 5],
    ],
    ["its program is gone", { entry: program, unsettled: lost }, ["offline", "process_exited", 5]],
    ["it is paused", { entry: paused, isSignedIn: false }, ["disabled", "paused", 9]],
    ["its gate is shut", { entry: program, isSignedIn: false }, ["starting", undefined, 9]],
    ["the host closes", { entry: program, isClosing: true }, ["offline", "host_closed", 9]],
    [
      "the host closes, and it is off",
      { entry: { ...program, isOn: false }, isClosing: true },
      ["disabled", "switched_off", 9],
    ],
  ])("H-36: a route went: %s", (_why, changes, [state, reason, since]) => {
    const status = presumeStatus({ ...withdrawn, ...changes });
    expect(status).toEqual({ connectorKey: "files", state, reason, since, nextAttemptAt: undefined });
  });

  it("H-36: of one that is published nothing is presumed", () => {
    expect(presumeStatus({ ...withdrawn, isPublished: true })).toBeUndefined();
    expect(presumeStatus({ ...withdrawn, isPublished: true, entry: program, unsettled: lost })).toBeUndefined();
  });
});
