import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  areListedAlike,
  areSameRules,
  compileAccessGlobs,
  isNarrower,
  Permissions,
} from "../../../../src/connector-host/permissions/index.js";
import type { ToolRules } from "../../../../src/connector-host/registration/index.js";

type Rules = Pick<ToolRules, "newTools" | "permissions">;

function permissionsOf(rules: Record<string, Rules>, globs = {}) {
  const versions = new Map(Object.keys(rules).map((key) => [key, 1]));
  const source = {
    rulesOf: (key: string) => (Object.hasOwn(rules, key) ? rules[key] : undefined),
    versionOf: (key: string) => versions.get(key),
  };
  return { permissions: new Permissions(source, compileAccessGlobs(globs)), versions };
}

describe("H-31: the permission of a tool", () => {
  const rules: Record<string, Rules> = {
    files: { newTools: "off", permissions: { read: "allow", write: "ask" } },
    mail: { newTools: "allow", permissions: { send: "off" } },
  };

  it("is what was decided for it, else what the connector's new tools get, else off", () => {
    const { permissions } = permissionsOf(rules);
    expect(permissions.ofTool("files", "read")).toBe("allow");
    expect(permissions.ofTool("files", "write")).toBe("ask");
    expect(permissions.ofTool("files", "later")).toBe("off");
    expect(permissions.ofTool("mail", "later")).toBe("allow");
    expect(permissions.ofTool("mail", "send")).toBe("off");
    expect(permissions.ofTool("nobody", "read")).toBe("off");
  });

  it.each(["constructor", "__proto__", "toString"])("H-18: a tool named %s has no permission but its own", (name) => {
    const { permissions } = permissionsOf({ mail: { newTools: "ask", permissions: {} } });
    expect(permissions.ofTool("mail", name)).toBe("ask");
  });

  it("says whether any tool can be called at all", () => {
    const { permissions } = permissionsOf({
      none: { newTools: "off", permissions: { a: "off" } },
      one: { newTools: "off", permissions: { a: "off", b: "ask" } },
    });
    expect(permissions.mayHoldTools("none")).toBe(false);
    expect(permissions.mayHoldTools("one")).toBe(true);
    expect(permissions.mayHoldTools("nobody")).toBe(false);
  });

  it("H-14: a call pins the version, and sees when it is another, or none any more", () => {
    const { permissions, versions } = permissionsOf(rules);
    const pins = permissions.pins("mail");
    const pinned = pins?.permission;
    expect(pinned?.current()).toBe(pinned?.value);
    // A call makes none of its own.
    expect(permissions.pins("mail")).toBe(pins);
    versions.set("mail", 2);
    expect(pinned?.current()).not.toBe(pinned?.value);
    expect(permissions.pins("mail")?.permission?.value).toBe(2);
    versions.delete("mail");
    expect(pinned?.current()).toBeUndefined();
    expect(permissions.pins("nobody")).toBeUndefined();
  });
});

describe("H-31: rules compared", () => {
  it("off permits less than ask, and ask less than allow", () => {
    const all = ["off", "ask", "allow"] as const;
    expect(all.map((next) => all.map((present) => isNarrower(next, present)))).toEqual([
      [false, true, true],
      [false, false, true],
      [false, false, false],
    ]);
  });

  it.each<[string, Rules, Rules, boolean, boolean]>([
    [
      "names what the default says anyway",
      { newTools: "off", permissions: {} },
      { newTools: "off", permissions: { a: "off" } },
      true,
      true,
    ],
    ["asks", { newTools: "allow", permissions: {} }, { newTools: "allow", permissions: { a: "ask" } }, false, true],
    [
      "hides one",
      { newTools: "allow", permissions: {} },
      { newTools: "allow", permissions: { a: "off" } },
      false,
      false,
    ],
    ["asks for all others", { newTools: "allow", permissions: {} }, { newTools: "ask", permissions: {} }, false, true],
    ["shows all others", { newTools: "off", permissions: {} }, { newTools: "ask", permissions: {} }, false, false],
  ])("one that %s", (_what, one, other, areSame, areAlike) => {
    expect([areSameRules(one, other), areSameRules(other, one)]).toEqual([areSame, areSame]);
    expect([areListedAlike(one, other), areListedAlike(other, one)]).toEqual([areAlike, areAlike]);
  });
});

describe("H-31: globs", () => {
  const open: Record<string, Rules> = { git: { newTools: "allow", permissions: {} } };

  it.each([
    ["nothing said", {}, "git/push", true],
    ["deny wins over allow", { allow: ["git/*"], deny: ["git/push"] }, "git/push", false],
    ["deny matches without case", { deny: ["git/PUSH"] }, "git/push", false],
    ["allow matches exactly", { allow: ["git/PUSH"] }, "git/push", false],
    ["a star crosses slashes", { deny: ["git/*"] }, "git/remote/add", false],
    ["a star takes a dot", { deny: ["git/*"] }, "git/.hidden", false],
    ["a name of another connector", { deny: ["git/*"] }, "github/push", true],
    ["an empty allow list allows nothing", { allow: [] }, "git/push", false],
    ["a leading mark is text, and doesn't turn a deny around", { deny: ["!git/push"] }, "git/pull", true],
    ["a backslash is no slash", { allow: ["git/push"] }, "git\\push", false],
  ])("%s", (_what, globs, subject, expected) => {
    expect(compileAccessGlobs(globs)(subject)).toBe(expected);
  });

  it("hold for tools, prompts and resources alike, and make a tool off", () => {
    const { permissions } = permissionsOf(open, { deny: ["git/push", "git/file:///secret*"] });
    expect(permissions.ofTool("git", "push")).toBe("off");
    expect(permissions.ofTool("git", "pull")).toBe("allow");
    expect(permissions.admitsEntry("git", "push")).toBe(false);
    expect(permissions.admitsEntry("git", "file:///secret/key")).toBe(false);
    expect(permissions.admitsEntry("git", "file:///readme")).toBe(true);
    expect(permissions.admitsEntry("nobody", "file:///readme")).toBe(false);
  });

  it("whatever is denied literally stays denied in any case, whatever is allowed", () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
    fc.assert(
      fc.property(name, fc.boolean(), (tool, upper) => {
        const test = compileAccessGlobs({ allow: ["*"], deny: [`git/${upper ? tool.toUpperCase() : tool}`] });
        expect(test(`git/${tool}`)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["unknown key", { block: [] }],
    ["no list", { deny: "git/*" }],
    ["an empty glob", { deny: [""] }],
    ["a long glob", { allow: ["a".repeat(1_025)] }],
    ["too many", { allow: Array.from({ length: 1_025 }, () => "a") }],
  ])("%s is refused", (_what, globs) => {
    // Untyped callers exist.
    expect(() => Reflect.apply(compileAccessGlobs, undefined, [globs])).toThrow(
      expect.objectContaining({ code: "invalid_options" }),
    );
  });
});
