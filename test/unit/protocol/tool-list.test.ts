import { describe, expect, it } from "vitest";
import { ToolListCheck } from "../../../src/protocol/index.js";

const schema = { type: "object" };
const tool = (name: string, more: object = {}): object => ({ name, inputSchema: schema, ...more });
const mirroring = (header: unknown, type = "string"): object => ({
  inputSchema: { type: "object", properties: { a: { type, "x-mcp-header": header } } },
});
const kinds = (check: ToolListCheck): unknown[] => check.diagnostics.map(({ kind, subject }) => [kind, subject]);
const create = (): ToolListCheck => new ToolListCheck({ honoursHeaders: true });

describe("ToolListCheck", () => {
  it("W-32: hands good tools over as they came, in their order", () => {
    const entries = [
      tool("b", {
        title: "B",
        description: "",
        outputSchema: {},
        annotations: { readOnlyHint: true },
        icons: [],
        _meta: {},
      }),
      tool("a", { unknown: [1, null], execution: { taskSupport: "optional" } }),
      tool(""),
      tool("__proto__"),
    ];
    const check = create();
    const page = check.page(entries);
    expect(page.tools).toHaveLength(4);
    page.tools.forEach((each, index) => expect(each).toBe(entries[index]));
    expect(page.fresh).toBe(4);
    expect(check.diagnostics).toEqual([]);
    expect([...check.contracts.keys()]).toEqual(["b", "a", "", "__proto__"]);
  });

  it.each([
    [null],
    [undefined],
    ["tool"],
    [7],
    [[tool("x")]],
    [{}],
    [{ inputSchema: schema }],
    [{ name: null, inputSchema: schema }],
    [{ name: 7, inputSchema: schema }],
    [{ name: ["x"], inputSchema: schema }],
  ])("W-32: %j has no name and is left out", (entry) => {
    const check = create();
    const page = check.page([tool("before"), entry, tool("after")]);
    expect(page.tools.map(({ name }) => name)).toEqual(["before", "after"]);
    expect(page.fresh).toBe(2);
    expect(kinds(check)).toEqual([["entry_dropped", undefined]]);
  });

  it.each([undefined, null, true, "{}", 7, [], [schema]])("W-32: %j is no inputSchema", (inputSchema) => {
    const check = create();
    const page = check.page([{ name: "x", inputSchema }, tool("after")]);
    expect(page.tools.map(({ name }) => name)).toEqual(["after"]);
    expect(page.fresh).toBe(2);
    expect(kinds(check)).toEqual([["entry_dropped", "x"]]);
    expect([...check.contracts.keys()]).toEqual(["after"]);
  });

  it("W-32: a schema that is strange but an object stays: it is not ours to judge", () => {
    const check = create();
    const entries = [
      { name: "a", inputSchema: {} },
      { name: "b", inputSchema: { type: "nonsense", properties: [] } },
    ];
    expect(check.page(entries).tools).toEqual(entries);
    expect(check.diagnostics).toEqual([]);
  });

  it.each([
    ["title", 7],
    ["title", {}],
    ["description", ["x"]],
    ["description", false],
    ["outputSchema", true],
    ["outputSchema", []],
    ["annotations", "readOnly"],
    ["annotations", []],
    ["icons", {}],
    ["icons", "https://example.test/icon.png"],
    ["_meta", []],
    ["_meta", 0],
  ])("W-32: %s of a wrong type is removed: %j", (member, value) => {
    const entry = tool("x", { [member]: value, kept: value });
    const before = structuredClone(entry);
    const check = create();
    expect(check.page([entry]).tools).toStrictEqual([tool("x", { kept: value })]);
    expect(entry).toEqual(before);
    expect(check.diagnostics).toMatchObject([{ kind: "member_removed", subject: "x", path: member }]);
  });

  it.each(["title", "description", "outputSchema", "annotations", "icons", "_meta"])(
    "W-32: %s null reads as absent and is no fault",
    (member) => {
      const check = create();
      const [checked] = check.page([tool("x", { [member]: null })]).tools;
      expect(Object.hasOwn(checked ?? {}, member)).toBe(false);
      expect(check.diagnostics).toEqual([]);
    },
  );

  it("W-32: of one name the first wins, on one page and across pages", () => {
    const check = create();
    const first = check.page([tool("a", { title: "1" }), tool("b"), tool("a", { title: "2" })]);
    const second = check.page([tool("a", { title: "3" }), tool("c"), tool("A")]);
    expect([...first.tools, ...second.tools]).toEqual([tool("a", { title: "1" }), tool("b"), tool("c"), tool("A")]);
    expect([first.fresh, second.fresh]).toEqual([2, 2]);
    expect(kinds(check)).toEqual([
      ["duplicate_entry", "a"],
      ["duplicate_entry", "a"],
    ]);
    expect([...check.duplicates]).toEqual(["a"]);
  });

  it("W-32: the first wins though it is left out itself", () => {
    const check = create();
    const page = check.page([tool("bad", mirroring("")), { name: "worse" }, tool("bad"), tool("worse")]);
    expect(page).toEqual({ tools: [], fresh: 2 });
    expect([...check.duplicates]).toEqual(["bad", "worse"]);
    expect(check.contracts.size).toBe(0);
    expect([...check.excluded.keys()]).toEqual(["bad"]);
  });

  it("W-30: a page of names that were there already has nothing fresh", () => {
    const check = create();
    check.page([tool("a"), tool("b", mirroring(""))]);
    expect(check.page([tool("b"), tool("a"), null]).fresh).toBe(0);
    expect(check.page([]).fresh).toBe(0);
  });

  it("W-22: a tool with an invalid annotation is left out with its name, place and reason, and the others stay", () => {
    const check = create();
    const page = check.page([
      tool("good", mirroring("Region")),
      tool("number", mirroring("Region", "number")),
      tool("empty", mirroring("")),
      tool("plain"),
    ]);
    expect(page.tools.map(({ name }) => name)).toEqual(["good", "plain"]);
    expect(page.fresh).toBe(4);
    const path = "/properties/a";
    expect([...check.excluded]).toEqual([
      ["number", { path, reason: expect.any(String) }],
      ["empty", { path, reason: expect.any(String) }],
    ]);
    expect(check.diagnostics).toMatchObject([
      { kind: "tool_excluded", subject: "number", path, message: expect.stringContaining("x-mcp-header") },
      { kind: "tool_excluded", subject: "empty", path },
    ]);
    expect([...check.contracts]).toEqual([
      ["good", { parameters: [{ header: "Mcp-Param-Region", path: ["a"] }] }],
      ["plain", { parameters: [] }],
    ]);
  });

  it("W-22: header names are unique within a tool, not among tools", () => {
    const check = create();
    expect(check.page([tool("a", mirroring("Region")), tool("b", mirroring("region"))]).tools).toHaveLength(2);
  });

  it("W-22: annotations mean nothing where they are not honoured", () => {
    const check = new ToolListCheck({ honoursHeaders: false });
    const entries = [tool("a", mirroring("Region")), tool("b", mirroring(""))];
    expect(check.page(entries).tools).toEqual(entries);
    expect(check.diagnostics).toEqual([]);
    expect(check.excluded.size).toBe(0);
    expect([...check.contracts.values()]).toEqual([{ parameters: [] }, { parameters: [] }]);
  });

  it("W-20, W-22: the contract of one tool is that of all of them; what was left out has none", () => {
    const check = create();
    check.page([tool("a", mirroring("Region")), tool("plain"), tool("bad", mirroring("")), { name: "none" }]);
    check.page([tool("later"), tool("none"), tool("bad")]);
    expect([...check.names]).toEqual(["a", "plain", "bad", "none", "later"]);
    expect([...check.contracts.keys()]).toEqual(["a", "plain", "later"]);
    for (const name of [...check.names, "other", "__proto__"]) {
      expect(check.contractOf(name)).toBe(check.contracts.get(name));
    }
  });

  it("W-22: a definition that is broken twice says both", () => {
    const check = create();
    check.page([tool("x", { ...mirroring(null), title: 7 })]);
    expect(kinds(check)).toEqual([
      ["member_removed", "x"],
      ["tool_excluded", "x"],
    ]);
  });
});
