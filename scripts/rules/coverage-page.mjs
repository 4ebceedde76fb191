/**
 * The page that says which tests show which requirement.
 *
 * Throws when a claimed requirement is cited by no test, and when a test cites one that does not exist.
 *
 * @param {readonly import("./rule-book.mjs").Group[]} book
 * @param {ReadonlyMap<string, readonly string[]>} citing files by requirement
 * @returns {string}
 */
export function coveragePage(book, citing) {
  const known = new Set(book.flatMap(({ rules }) => rules.map(({ rule }) => rule)));
  const letters = new Set(book.map(({ letter }) => letter));
  for (const [rule, files] of citing) {
    if (letters.has(rule.slice(0, 1)) && !known.has(rule))
      throw new Error(`${files[0]} cites ${rule}, which there is not`);
  }
  return `${[
    "# Requirements and their tests",
    "<!-- Generated from docs/rules.json and the names of tests by `npm run docs`. -->",
    "What is asked of this project, by number, in our own words. A requirement is claimed when tests show all of it; the others say what is missing. A claim that no passing test cites fails `npm run rules`.",
    ...book.flatMap(section),
  ].join("\n\n")}\n`;

  function section({ letter, title, rules }) {
    const claims = rules.filter(({ missing }) => missing === undefined).length;
    return [`## ${letter}: ${title}`, `${claims} of ${rules.length} claimed.`, rules.map(entry).join("\n")];
  }

  function entry({ rule, says, missing }) {
    const files = citing.get(rule) ?? [];
    if (missing === undefined && files.length === 0) throw new Error(`${rule} is claimed, and no test cites it`);
    const lack = missing === undefined ? "" : ` **Missing**: ${missing}.`;
    return [`- **${rule}** ${says}${lack}`, ...files.map((file) => `  - [${file}](../${file})`)].join("\n");
  }
}
