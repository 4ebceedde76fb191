import { describe, expect, it } from "vitest";
import {
  assertRuleChange,
  boundedRules,
  changePermissions,
  changeRules,
  parseRegistration,
  readRegistration,
  tableFrom,
  type ToolPermission,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { storedRegistration } from "./registration.fixture.js";

const rules = { newTools: "off", permissions: tableFrom<ToolPermission>([["read", "allow"]]) } as const;
const tool = (nativeName: string, permission: ToolPermission | undefined) =>
  ({ kind: "tool", nativeName, permission }) as const;

describe("H-31: a decision about tools", () => {
  it("is one of one tool, of none any more, or of all others", () => {
    const ask = changeRules(rules, tool("write", "ask"));
    expect(ask).toEqual({ newTools: "off", permissions: { read: "allow", write: "ask" } });
    expect(changeRules(ask, tool("read", undefined))).toEqual({ newTools: "off", permissions: { write: "ask" } });
    expect(changeRules(ask, { kind: "new_tools", permission: "allow" })).toEqual({ ...ask, newTools: "allow" });
    expect(rules.permissions).toEqual({ read: "allow" });
  });

  it.each(["constructor", "__proto__"])("H-18: a tool named %s is one like any other", (name) => {
    const changed = changeRules(rules, tool(name, "ask"));
    expect(Object.entries(changed.permissions)).toContainEqual([name, "ask"]);
    expect(Object.entries(changeRules(changed, tool(name, undefined)).permissions)).toEqual([["read", "allow"]]);
  });

  it.each([
    ["no permission", { kind: "tool", nativeName: "read", permission: "yes" }, "permission"],
    ["none for all others", { kind: "new_tools", permission: undefined }, "permission"],
    ["an empty name", tool("", "ask"), "nativeName"],
    ["a long name", tool("a".repeat(257), "ask"), "nativeName"],
    ["an ill-formed name", tool("\ud800", "ask"), "nativeName"],
    ["no name", { kind: "tool", permission: "ask" }, "nativeName"],
  ])("%s is refused", (_what, change, argument) => {
    // Untyped callers exist.
    expect(() => Reflect.apply(assertRuleChange, undefined, [change])).toThrow(
      expect.objectContaining({ code: "invalid_argument", details: expect.objectContaining({ argument }) }),
    );
  });

  it("is refused when 2,048 tools have a permission of their own", () => {
    const many = tableFrom(Array.from({ length: 2_048 }, (_, index) => [`t${String(index)}`, "ask"] as const));
    const full = { newTools: "off", permissions: many } as const;
    expect(boundedRules(changeRules(full, tool("t7", "off"))).permissions["t7"]).toBe("off");
    expect(() => boundedRules(changeRules(full, tool("more", "off")))).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("H-3: changes nothing else of a registration, and is in its file", () => {
    const registration = parseRegistration(storedRegistration());
    const changed = changePermissions(registration, tool("drop", "ask"));
    expect(changed).toEqual({ ...registration, permissions: { ...registration.permissions, drop: "ask" } });
    expect(readRegistration(writeRegistration(changed))).toEqual(changed);
    const described = (last: number) => ({
      ...Object.fromEntries(
        Array.from({ length: 255 }, (_, at) => [`d${String(at)}`, { description: "x".repeat(16_384) }]),
      ),
      last: { description: "x".repeat(last) },
    });
    const bytes = JSON.stringify(parseRegistration(storedRegistration({ descriptions: described(1) }))).length;
    const full = described(4 * 1024 * 1024 - bytes - 99);
    const large = parseRegistration(storedRegistration({ descriptions: full }));
    const change = (): unknown => changePermissions(large, tool("n".repeat(99), "ask"));
    expect(refusedMember(change)).toBe("");
  });
});
