import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CatalogEntry,
  ConnectorCatalog,
  deviceEntry,
  type KeptRules,
} from "../../../../src/connector-host/catalog/index.js";
import { registeredConnector } from "../../../../src/connector-host/device/index.js";
import { REGISTERED } from "../../../../src/connector-host/host/registration-admin.js";
import { RuleBook } from "../../../../src/connector-host/host/rule-book.js";
import { permissionIn } from "../../../../src/connector-host/permissions/index.js";
import {
  changePermissions,
  parseRegistration,
  type RuleChange,
  tableFrom,
  type ToolPermission,
} from "../../../../src/connector-host/registration/index.js";
import { server } from "../../../support/device.js";
import { releaseEntryOf } from "../../../support/release-entries.js";
import { storedRegistration } from "../registration/registration.fixture.js";

const release = releaseEntryOf("files");
const declared = deviceEntry(
  server("https://docs.example/mcp", { newTools: "ask", permissions: { read: "allow" } }),
  "the configuration",
);
const tool = (nativeName: string, permission: ToolPermission | undefined): RuleChange => ({
  kind: "tool",
  nativeName,
  permission,
});
const others = (permission: ToolPermission): RuleChange => ({ kind: "new_tools", permission });

function keptRules(permissions: Record<string, ToolPermission>, subject = "release"): KeptRules {
  return { subject, newTools: undefined, permissions: tableFrom(Object.entries(permissions)) };
}

function party(entry: CatalogEntry, kept: Iterable<readonly [string, KeptRules | undefined]> = []) {
  const catalog = new ConnectorCatalog([entry]);
  const book = new RuleBook({ catalog, kept: new Map(kept), newReleaseTools: "allow" });
  const { key } = entry;
  const told: (readonly [string, boolean])[] = [];
  book.onChange((connectorKey, isListedAlike) => told.push([connectorKey, isListedAlike]));
  const permission = (name: string) => {
    const rules = book.rulesOf(key);
    return rules && permissionIn(rules, name);
  };
  return { book, catalog, key, told, permission };
}

describe("H-31: rules as they are", () => {
  it("a release's tools are as the host's option says; what a person decided is kept beside it", () => {
    const { book, key, permission, told } = party(release, [["files", keptRules({ read: "off" })]]);
    expect([permission("read"), permission("write")]).toEqual(["off", "allow"]);
    book.setOverride(key, keptRules({ write: "ask" }));
    expect([permission("read"), permission("write"), told]).toEqual(["allow", "ask", [["files", false]]]);
    expect(book.rulesOf("nobody")).toBeUndefined();
    expect(book.versionOf("nobody")).toBeUndefined();
  });

  it("what a person decided goes before what the configuration declares, and lets the rest stand", () => {
    const { permission } = party(declared, [["docs", keptRules({ write: "off" }, "server https://docs.example")]]);
    expect([permission("read"), permission("write"), permission("new")]).toEqual(["allow", "off", "ask"]);
  });

  it.each([
    ["of another origin", "server https://other.example"],
    ["of another kind", "release"],
  ])("H-3: what was allowed of a server %s asks, what was off stays off", (_what, subject) => {
    const { book, permission } = party(declared, [["docs", keptRules({ a: "allow", b: "off" }, subject)]]);
    expect([permission("a"), permission("b")]).toEqual(["ask", "off"]);
    expect(book.overrideOf(declared)).toEqual(keptRules({ a: "ask", b: "off" }, "server https://docs.example"));
  });

  it("what can't be read allows nothing, what is declared included", () => {
    const { book, permission } = party(declared, [["docs", undefined]]);
    expect([permission("read"), permission("new")]).toEqual(["off", "off"]);
    const next = {
      ...book.overrideOf(declared),
      ...keptRules({ read: "off", new: "ask" }, "server https://docs.example"),
    };
    book.setOverride("docs", { ...next, newTools: "off" });
    expect([permission("read"), permission("new"), permission("later")]).toEqual(["off", "ask", "off"]);
  });

  it("a registration's own rules are its own, and those of another who had its key don't count", () => {
    const registration = parseRegistration(storedRegistration());
    const entryOf = (changed = registration) => deviceEntry(registeredConnector(changed), REGISTERED);
    const { catalog, permission, book, told } = party(entryOf(), [["docs", keptRules({ drop: "allow" })]]);
    expect([permission("search"), permission("drop"), permission("new")]).toEqual(["allow", "off", "off"]);
    const version = book.versionOf("docs");
    catalog.set("docs", entryOf(Object.freeze({ ...registration, state: "paused" })));
    expect([book.versionOf("docs"), told]).toEqual([version, []]);
    catalog.set("docs", entryOf(changePermissions(registration, tool("search", "ask"))));
    expect([permission("search"), told]).toEqual(["ask", [["docs", true]]]);
    expect(book.versionOf("docs")).not.toBe(version);
  });
});

describe("H-31, H-14: decisions", () => {
  it("what permits less is in effect at once, with another version, and what permits more is not", () => {
    const { book, permission, told } = party(release);
    const first = book.versionOf("files");
    const turn = book.begin(release, tool("read", "off"));
    expect([permission("read"), told]).toEqual(["off", [["files", false]]]);
    const second = book.versionOf("files");
    expect(second).not.toBe(first);
    // Kept: nothing changes by that.
    book.setOverride("files", keptRules({ read: "off" }));
    book.settle("files", tool("read", "off"), turn);
    expect([permission("read"), book.versionOf("files")]).toEqual(["off", second]);

    const wider = book.begin(release, tool("read", "allow"));
    expect(permission("read")).toBe("off");
    book.setOverride("files", keptRules({ read: "allow" }));
    book.settle("files", tool("read", "allow"), wider);
    expect(permission("read")).toBe("allow");
    expect([first, second]).not.toContain(book.versionOf("files"));
  });

  it("one that could not be kept holds until another about the same tools is kept", () => {
    const { book, permission } = party(release);
    book.begin(release, tool("read", "off"));
    const other = book.begin(release, tool("write", "ask"));
    book.setOverride("files", keptRules({ write: "ask" }));
    book.settle("files", tool("write", "ask"), other);
    expect([permission("read"), permission("write")]).toEqual(["off", "ask"]);
    const again = book.begin(release, tool("read", "allow"));
    book.settle("files", tool("read", "allow"), again);
    expect(permission("read")).toBe("allow");
  });

  it("a wider one that was asked for earlier does not undo a narrower one, whichever is kept first", () => {
    const { book, permission } = party(release, [["files", keptRules({ read: "ask" })]]);
    const wider = book.begin(release, tool("read", "allow"));
    const narrower = book.begin(release, tool("read", "off"));
    book.setOverride("files", keptRules({ read: "allow" }));
    book.settle("files", tool("read", "allow"), wider);
    expect(permission("read")).toBe("off");
    book.setOverride("files", keptRules({ read: "off" }));
    book.settle("files", tool("read", "off"), narrower);
    expect(permission("read")).toBe("off");
  });

  it("to take a tool's own permission away is in effect at once where it permits less", () => {
    const { book, permission } = party(declared, [
      ["docs", keptRules({ write: "allow" }, "server https://docs.example")],
    ]);
    book.begin(declared, tool("write", undefined));
    expect(permission("write")).toBe("ask");
    book.begin(declared, others("off"));
    expect([permission("read"), permission("new")]).toEqual(["allow", "off"]);
  });

  it("H-16: nothing is left of a connector that goes, and one that comes back has another version", () => {
    const { book, catalog, permission } = party(release);
    const version = book.versionOf("files");
    book.begin(release, tool("read", "off"));
    catalog.set("files", undefined);
    expect([book.rulesOf("files"), book.versionOf("files")]).toEqual([undefined, undefined]);
    book.setOverride("files", undefined);
    catalog.set("files", release);
    expect(permission("read")).toBe("allow");
    expect(book.versionOf("files")).not.toBe(version);
  });

  it("whatever is decided in whatever order, the last decision about a tool is what holds", () => {
    const permission = fc.constantFrom<ToolPermission>("off", "ask", "allow");
    const name = fc.constantFrom("a", "b", "__proto__");
    const change = fc.oneof(
      fc.record({ kind: fc.constant("tool" as const), nativeName: name, permission }),
      fc.record({ kind: fc.constant("new_tools" as const), permission }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.infiniteStream(fc.nat(3)), (changes, lag) => {
        const { book, permission: present } = party(release);
        const pending: { readonly each: RuleChange; readonly turn: number }[] = [];
        let kept: KeptRules = { ...keptRules({}), newTools: undefined };
        const keep = (): void => {
          const next = pending.shift();
          if (next === undefined) return;
          const { each, turn } = next;
          kept =
            each.kind === "new_tools"
              ? { ...kept, newTools: each.permission }
              : {
                  ...kept,
                  permissions: tableFrom([
                    ...Object.entries(kept.permissions),
                    [each.nativeName, each.permission ?? "off"],
                  ]),
                };
          book.setOverride("files", kept);
          book.settle("files", each, turn);
        };
        for (const each of changes) {
          pending.push({ each, turn: book.begin(release, each) });
          while (pending.length > (lag.next().value ?? 0)) keep();
        }
        while (pending.length > 0) keep();
        const last = changes.findLast(({ kind }) => kind === "new_tools")?.permission ?? "allow";
        expect(present("c")).toBe(last);
        for (const tried of ["a", "b", "__proto__"]) {
          const own = changes.findLast((each) => each.kind === "tool" && each.nativeName === tried)?.permission;
          expect(present(tried)).toBe(own ?? last);
        }
      }),
      { numRuns: 200 },
    );
  });
});
