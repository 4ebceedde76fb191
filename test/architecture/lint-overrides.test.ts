import { expect, it } from "vitest";
import { lintOverrides } from "./lint-overrides.js";
import { readProjectJson } from "./source-tree.js";
import { TABLE } from "./table.js";

it("the linter is told what the table says: `npx vitest run test/architecture -u` writes it anew", async () => {
  const told = `${JSON.stringify({ overrides: lintOverrides(TABLE) }, null, 2)}\n`;
  await expect(told).toMatchFileSnapshot("../../.oxlintrc.imports.json");
  expect(readProjectJson(".oxlintrc.json")).toMatchObject({ extends: ["./.oxlintrc.imports.json"] });
});
