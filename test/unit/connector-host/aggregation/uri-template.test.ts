import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesUriTemplate, parseUriTemplate } from "../../../../src/connector-host/aggregation/uri-template.js";

function matches(text: string, uri: string): boolean {
  const template = parseUriTemplate(text);
  return template !== undefined && matchesUriTemplate(template, uri);
}

describe("H-28: whether a URI belongs to a template", () => {
  it.each([
    ["file:///{path}", "file:///a.txt"],
    ["file:///{path}", "file:///a%2Fb"],
    ["file:///{+path}", "file:///a/b/c.txt?x#y"],
    ["users://{name}", "users://ada@example.com"],
    ["demo://{kind}/{id}", "demo://text/9007199254740993"],
    ["demo://x{/segments*}", "demo://x/a/b/c"],
    ["demo://x{/a,b}", "demo://x/1/2"],
    ["demo://x{/a}", "demo://x"],
    ["demo://x{?q,lang}", "demo://x?q=1&lang=en"],
    ["demo://x{?q}", "demo://x"],
    ["demo://x?fixed=1{&q}", "demo://x?fixed=1&q=2"],
    ["demo://x{#part}", "demo://x#a/b"],
    ["demo://x{.format}", "demo://x.json"],
    ["demo://x{;p}", "demo://x;p=1"],
    ["{+everything}", "any:thing"],
    ["demo://{a}{b}", "demo://xy"],
    ["demo://{name:3}", "demo://abc"],
  ])("%s has %s", (template, uri) => expect(matches(template, uri)).toBe(true));

  it.each([
    ["file:///{path}", "file:///"],
    ["file:///{path}", "file:///a/b"],
    ["file:///{path}", "file:///a?b"],
    ["file:///{path}", "FILE:///a"],
    ["demo://{kind}/{id}", "demo://text"],
    ["demo://x{/a}", "demo://x/1/2"],
    ["demo://x{?q}", "demo://x#q"],
    ["demo://{a}/end", "demo://x/end/"],
    ["demo://{a}{b}", "demo://x"],
    ["demo://{a}", "other://x"],
  ])("%s has not %s", (template, uri) => expect(matches(template, uri)).toBe(false));

  it.each([
    "demo://fixed",
    "demo://{",
    "demo://}",
    "demo://{}",
    "demo://{a b}",
    "demo://{=a}",
    "demo://{a}{",
    "{{a}}",
    "",
  ])("%s is no template", (text) => expect(parseUriTemplate(text)).toBeUndefined());

  it("takes time in proportion to the lengths, whatever a server wrote", () => {
    const startedAt = performance.now();
    expect(matches(`${"{+a}".repeat(16)}!`, "x".repeat(8_192))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(matches("{+a}".repeat(16), "x".repeat(8_192))).toBe(true);
    expect(matches("{+a}".repeat(17), "x".repeat(8_192))).toBe(false);
    expect(matches("{+a}", "x".repeat(8_193))).toBe(false);
  });
});

/** An operator, what an expansion of it leads with, and what a value of it may not hold; written here a second time. */
const OPERATORS = [
  ["", "", "/?#", false],
  ["+", "", "", false],
  ["#", "#", "", true],
  [".", ".", "/?#", true],
  ["/", "/", "/?#", true],
  [";", ";", "/?#", true],
  ["?", "?", "#", true],
  ["&", "&", "#", true],
] as const;

const literal = fc.stringMatching(/^[a-c/:?#.]{1,3}$/).map((text) => ({ text, pattern: escaped(text) }));
const hole = fc.constantFrom(...OPERATORS).map(([operator, lead, stops, mayBeAbsent]) => {
  const value = stops === "" ? "[\\s\\S]+" : `[^${stops}]+`;
  return { text: `{${operator}v}`, pattern: `(?:${escaped(lead)}${value})${mayBeAbsent ? "?" : ""}` };
});

function escaped(text: string): string {
  return text.replace(/[/?#.:;+&]/g, "\\$&");
}

it("H-28: says the same as a regular expression, for any template and URI", () => {
  const template = fc
    .tuple(fc.array(fc.oneof(literal, hole), { maxLength: 4 }), hole)
    .map(([parts, last]) => [...parts, last]);
  const uri = fc.stringMatching(/^[a-c/:?#.;&]{0,8}$/);
  fc.assert(
    fc.property(template, uri, (parts, text) => {
      const pattern = new RegExp(`^${parts.map((part) => part.pattern).join("")}$`);
      expect(matches(parts.map((part) => part.text).join(""), text)).toBe(pattern.test(text));
    }),
    { numRuns: 1_000 },
  );
});
