import { describe, expect, it } from "vitest";
import { citedIn, rulesIn } from "../../../scripts/rules/cited-rules.mjs";
import { coveragePage } from "../../../scripts/rules/coverage-page.mjs";
import { judgeRules, rulesLine, type Test } from "../../../scripts/rules/judge-rules.mjs";
import { type Group, readRuleBook } from "../../../scripts/rules/rule-book.mjs";

const BOOK: readonly Group[] = [
  {
    letter: "W",
    title: "wire",
    claimed: true,
    rules: [
      { rule: "W-1", says: "one" },
      { rule: "W-2", says: "two", missing: "half" },
    ],
  },
  { letter: "L", title: "legacy", claimed: false, rules: [{ rule: "L-1", says: "old", missing: "all" }] },
];

function passed(...names: readonly string[]): readonly Test[] {
  return names.map((name) => ({ name, state: "passed" }));
}

function failed(name: string): Test {
  return { name, state: "failed" };
}

describe("the requirements", () => {
  it("are all in the book, each with its line", () => {
    const sizes = readRuleBook().map(({ letter, rules }) => `${letter} ${String(rules.length)}`);
    expect(sizes).toEqual(["W 45", "F 20", "L 23", "P 12", "R 11", "H 40", "A 11", "C 8"]);
    expect(readRuleBook().flatMap(({ rules }) => rules.filter(({ says }) => says.length < 10))).toEqual([]);
  });

  it("are found in names of tests, each once", () => {
    expect(rulesIn("F-1, W-12: a thing > W-12 > F-1 to L-3")).toEqual(["F-1", "W-12", "L-3"]);
    expect(rulesIn("UTF-8, SHA-256, x-1, W-0, W12")).toEqual([]);
  });
});

describe("citations in source", () => {
  it.each([
    ["a test", `it("W-1: a", () => {})`],
    ["a group", `describe("W-1", () => {})`],
    ["a table", `it.each([1])("W-1: %s", () => {})`],
    ["a template", "test(`W-1: ${name}`, () => {})"],
    ["a tagged table", 'describe.each`a`("W-1", () => {})'],
  ])("are seen in %s", (_, source) => expect([...citedIn("x.ts", source)]).toEqual(["W-1"]));

  it.each([
    ["a comment", `// it("W-1")`],
    ["text", `const text = 'it("W-1: a")'`],
    ["another call", `expect("W-1")`],
    ["a skipped test", `it.skip("W-1", () => {})`],
    ["a test that is yet to be written", `it.todo("W-1")`],
  ])("are not seen in %s", (_, source) => expect([...citedIn("x.ts", source)]).toEqual([]));
});

describe("a verdict on claims", () => {
  it("counts what is claimed and shown", () => {
    const { scores, unshown, unclaimed } = judgeRules(BOOK, passed("W-1: a"));
    expect(rulesLine(scores)).toBe("rules: W 1/2 claimed; L 0/1");
    expect({ unshown, unclaimed }).toEqual({ unshown: [], unclaimed: [] });
  });

  it.each<[string, readonly Test[]]>([
    ["no test", []],
    ["another's test", passed("W-10: a")],
    ["a skipped test", [{ name: "W-1: a", state: "skipped" }]],
    ["a test that fails", [failed("W-1: a")]],
    ["one that fails beside one that passes", [...passed("W-1: a"), failed("W-1: b")]],
  ])("is against a claim with %s", (_, tests) => {
    const { scores, unshown } = judgeRules(BOOK, tests);
    expect(unshown).toEqual(["W-1"]);
    expect(rulesLine(scores)).toBe("rules: W 0/2 claimed; L 0/1");
  });

  it("claims nothing by itself for what tests cite", () => {
    const { scores, unclaimed } = judgeRules(BOOK, passed("W-1: a", "W-2: b"));
    expect(unclaimed).toEqual(["W-2"]);
    expect(rulesLine(scores)).toBe("rules: W 1/2 claimed; L 0/1");
  });
});

describe("the page of coverage", () => {
  it("has every requirement with its tests and what is missing", () => {
    const page = coveragePage(BOOK, new Map([["W-1", ["test/a.test.ts"]]]));
    expect(page).toContain("- **W-1** one\n  - [test/a.test.ts](../test/a.test.ts)\n- **W-2** two **Missing**: half.");
    expect(page).toContain("1 of 2 claimed.");
  });

  it("can't be made of a claim without a test, nor of a number that there is not", () => {
    expect(() => coveragePage(BOOK, new Map())).toThrow("W-1 is claimed");
    const citing = new Map([["W-1", ["test/a.test.ts"]]]);
    expect(() => coveragePage(BOOK, new Map([...citing, ["W-3", ["test/b.test.ts"]]]))).toThrow("cites W-3");
  });
});
