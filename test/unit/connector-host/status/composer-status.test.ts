import { describe, expect, it } from "vitest";
import { composerStatusOf } from "../../../../src/connector-host/status/index.js";

describe("H-36: the composer's status", () => {
  it.each([
    ["not_installed", undefined, "setup_required"],
    ["disabled", "release_mismatch", "setup_required"],
    ["authorization_required", "signed_out", "auth_required"],
    ["authorization_required", "reauthorization_required", "auth_required"],
    ["starting", undefined, "available"],
    ["ready", undefined, "available"],
    ["degraded", "timeout", "available"],
    ["offline", "connect_failed", "available"],
    ["failed", "invalid_answer", "setup_required"],
    // Of registered servers and programs.
    ["disabled", "paused", "setup_required"],
    ["authorization_required", "authorization_required", "auth_required"],
    ["offline", "process_exited", "available"],
    ["offline", "unresolved_reference", "setup_required"],
    ["starting", "unresolved_reference", "setup_required"],
    ["failed", "spawn_failed", "setup_required"],
    ["degraded", "unresolved_reference", "available"],
    ["failed", undefined, "setup_required"],
    ["quarantined", undefined, "available"],
    ["constructor", "__proto__", "available"],
  ])("of %s (%s) is %s", (state, reason, expected) => {
    expect(composerStatusOf({ state, reason })).toBe(expected);
  });

  it.each(["invalid_release", "unsupported", "unsupported_version"])(
    "is unsupported where %s keeps it from running, and nowhere else",
    (reason) => {
      for (const state of ["not_installed", "disabled", "starting", "offline", "failed", "quarantined"]) {
        expect(composerStatusOf({ state, reason })).toBe("unsupported");
      }
      expect(composerStatusOf({ state: "ready", reason })).toBe("available");
      expect(composerStatusOf({ state: "degraded", reason })).toBe("available");
      expect(composerStatusOf({ state: "authorization_required", reason })).toBe("auth_required");
    },
  );
});
