import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { faultShape } from "../../../src/gateway/faults.js";
import { ROOT } from "../../architecture/source-tree.js";

const execute = promisify(execFile);
const page = readFileSync(join(ROOT, "docs/gateway.md"), "utf8");

describe("docs/gateway.md", () => {
  it("C-5: its example starts a gateway", async () => {
    const code = /```ts\n(.*?)```/s.exec(page)?.[1] ?? "";
    const args = ["--input-type=module", "--eval", code];
    const { stderr, stdout } = await execute(process.execPath, args, { cwd: ROOT });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(stderr).toBe("");
  });

  it("C-5: names every kind of fault", () => {
    const kinds = faultShape.options.map(({ shape }) => shape.kind.value);
    expect(kinds).toHaveLength(8);
    for (const kind of kinds) expect(page).toContain(`\`${kind}\``);
  });
});
