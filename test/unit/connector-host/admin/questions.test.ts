import { describe, expect, it } from "vitest";
import { questionOf, type RiskyAction } from "../../../../src/connector-host/admin/questions.js";
import type { ToolPermission } from "../../../../src/connector-host/registration/index.js";

const APPROVAL = {
  id: "1",
  connectorKey: "files",
  connectorName: '"Files"',
  toolName: '"drop"',
  nativeName: "drop",
  argumentsText: '{"path":"/"}',
  omittedBytes: 7,
  workspaceId: '"w"',
  agentSessionId: '"s"',
  requestedAt: 1,
  expiresAt: 2,
};

function permission(from: ToolPermission, to: ToolPermission | undefined): RiskyAction {
  const present = { newTools: "ask", permissions: { drop: from } } as const;
  return { kind: "permission", connectorKey: "files", nativeName: "drop", permission: to, present };
}

describe("H-33: what needs a person", () => {
  const order = ["off", "ask", "allow"] as const;

  it.each(order.flatMap((from) => order.map((to) => [from, to] as const)))(
    "H-33: a tool's permission from %s to %s needs one only where it permits more",
    (from, to) => {
      const isWider = order.indexOf(to) > order.indexOf(from);
      expect(questionOf(permission(from, to)) !== undefined).toBe(isWider);
      const present = { newTools: from, permissions: {} };
      const all = questionOf({ kind: "new_tools", connectorKey: "files", permission: to, present });
      // The same again is kept beside the definition, which may say less one day.
      expect(all !== undefined).toBe(isWider || (from === to && to !== "off"));
    },
  );

  it("H-33: whoever decides of a tool what holds anyway takes it out of what is decided of all others", () => {
    const present = (newTools: ToolPermission) => ({ newTools, permissions: { kept: newTools } });
    const pin = (to: ToolPermission, nativeName = "drop") =>
      questionOf({ kind: "permission", connectorKey: "files", nativeName, permission: to, present: present(to) });
    expect(pin("allow")).toBe(
      'Let the tool "drop" of "files" stay at allow, whatever is decided about its other tools.',
    );
    expect(pin("ask")).toContain("stay at ask");
    expect(pin("off")).toBeUndefined();
    // It was decided before.
    expect([pin("allow", "kept"), pin("ask", "kept")]).toEqual([undefined, undefined]);
  });

  it("H-33: what a definition would say again is not known, and counts as more", () => {
    expect(questionOf(permission("off", undefined))).toContain("what its definition says");
    expect(questionOf(permission("ask", undefined))).toBeDefined();
    expect(questionOf(permission("allow", undefined))).toBeUndefined();
  });

  it("H-33: a tool about which nobody decided is as new tools are", () => {
    const action = { kind: "permission", connectorKey: "files", nativeName: "__proto__", permission: "ask" } as const;
    const from = (newTools: ToolPermission) => questionOf({ ...action, present: { newTools, permissions: {} } });
    expect(from("off")).toBe('Change the permission of the tool "__proto__" of "files" from off to ask.');
    expect(from("ask")).toContain("stay at ask");
    expect(from("allow")).toBeUndefined();
  });

  it("H-33: switching on and letting run need one, switching off and pausing don't, nor what is so already", () => {
    const enable = (enabled: boolean, isEnabled: boolean) =>
      questionOf({ kind: "enable", connectorKey: "files", enabled, isEnabled });
    expect([enable(true, false) !== undefined, enable(true, true), enable(false, true)]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    const activate = (state: "active" | "paused", isPaused: boolean) =>
      questionOf({ kind: "activate", slug: "docs", state, isPaused });
    expect([activate("active", true) !== undefined, activate("active", false), activate("paused", false)]).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  it("H-33, H-32: an approval, a test call and a link always need one, and say what will be done", () => {
    expect(questionOf({ kind: "approval", approval: APPROVAL })).toBe(
      'Approve one call by the agent session "s" of the workspace "w" of the tool "drop" of "files" with the arguments {"path":"/"} and 7 bytes more.',
    );
    const argumentsText = '{"x":"\u202e"}';
    expect(questionOf({ kind: "test_call", connectorKey: "files", nativeName: "drop\n", argumentsText })).toBe(
      'Call once, whatever agents may do with it, the tool "drop\\n" of "files" with the arguments "{\\"x\\":\\"\\u{202e}\\"}".',
    );
    expect(questionOf({ kind: "link" })).toContain("link");
  });
});
