import { rulesIn } from "./cited-rules.mjs";

/**
 * Holds claims against a run of all tests. A requirement is shown when it is claimed, a passing test cites it, and no test that
 * cites it failed.
 *
 * @param {readonly import("./rule-book.mjs").Group[]} book
 * @param {readonly import("./judge-rules.mjs").Test[]} tests
 * @returns {import("./judge-rules.mjs").RulesVerdict}
 */
export function judgeRules(book, tests) {
  const passed = citedBy(tests, "passed");
  const failed = citedBy(tests, "failed");
  const isShown = ({ rule, missing }) => missing === undefined && passed.has(rule) && !failed.has(rule);
  const rules = book.flatMap((group) => group.rules);
  return {
    scores: book.map((group) => ({
      letter: group.letter,
      claimed: group.claimed,
      shown: group.rules.filter(isShown).length,
      total: group.rules.length,
    })),
    unshown: rules.filter((rule) => rule.missing === undefined && !isShown(rule)).map(({ rule }) => rule),
    unclaimed: rules.filter(({ rule, missing }) => missing !== undefined && passed.has(rule)).map(({ rule }) => rule),
  };
}

/**
 * The line that scripts read: `rules: W 40/45, F 12/20 claimed; L 5/23`, claimed groups first.
 *
 * @param {readonly import("./judge-rules.mjs").Score[]} scores
 * @returns {string}
 */
export function rulesLine(scores) {
  const list = (claimed) =>
    scores
      .filter((score) => score.claimed === claimed)
      .map(({ letter, shown, total }) => `${letter} ${shown}/${total}`)
      .join(", ");
  return `rules: ${list(true)} claimed; ${list(false)}`;
}

function citedBy(tests, state) {
  return new Set(tests.filter((test) => test.state === state).flatMap(({ name }) => rulesIn(name)));
}
