import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText, quoteText } from "../../../../src/connector-host/admin/index.js";

describe("texts of others at a terminal", () => {
  it("H-33: nothing of them can be unseen, turn text round, or be taken for a command of the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const shown of [quoteText(text, 50), plainText(text)]) {
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        }
      }),
    );
    // Neither what is shown as nothing, nor spaces that are others than they seem.
    for (const unseen of ["\u3164", "\u115f", "\u034f", "\ufe0f", "\u00a0", "\u2003", "\u3000"]) {
      expect(quoteText(`a${unseen}b`)).toMatch(/^"a\\u\{[0-9a-f]+\}b"$/);
    }
    expect(quoteText("a b")).toBe('"a b"');
    expect(quoteText("a\u001b[2Jb")).toBe('"a\\u001b[2Jb"');
    expect(plainText("a\u001b[2Jb\u202e")).toBe("a\\u{1b}[2Jb\\u{202e}");
  });

  it("H-33: they are bounded, and say so", () => {
    expect(quoteText("x".repeat(9), 9)).toBe(`"${"x".repeat(9)}"`);
    expect(quoteText("x".repeat(12), 9)).toBe(`"${"x".repeat(9)}" and 3 characters more`);
    expect(quoteText("")).toBe('""');
  });
});
