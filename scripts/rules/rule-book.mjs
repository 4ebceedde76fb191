import { readFileSync } from "node:fs";

/**
 * The requirements of `docs/rules.json`. Throws when a number is left out, or an entry is not what it should be.
 *
 * @returns {readonly import("./rule-book.mjs").Group[]}
 */
export function readRuleBook() {
  const groups = Object.entries(JSON.parse(readFileSync("docs/rules.json", "utf8")));
  return groups.map(([letter, { title, claimed, rules, ...rest }]) => {
    if (typeof title !== "string" || typeof claimed !== "boolean") throw new Error(`rules.json: group ${letter}`);
    refuseOthers(letter, rest);
    const entries = Object.entries(rules).map(([rule, { says, missing, ...others }], i) => {
      if (rule !== `${letter}-${i + 1}`) throw new Error(`rules.json: ${rule} stands where ${letter}-${i + 1} should`);
      if (typeof says !== "string" || !["string", "undefined"].includes(typeof missing))
        throw new Error(`rules.json: ${rule}`);
      refuseOthers(rule, others);
      return { rule, says, missing };
    });
    return { letter, title, claimed, rules: entries };
  });
}

function refuseOthers(where, others) {
  for (const name of Object.keys(others)) throw new Error(`rules.json: ${where} has an unknown member ${name}`);
}
