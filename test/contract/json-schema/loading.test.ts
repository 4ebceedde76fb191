import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../architecture/source-tree.js";

const MODULE = pathToFileURL(join(ROOT, "dist", "protocol", "json-schema", "index.js")).href;

/** Runs code in a fresh process, which imports the built folder, and reads the JSON that it prints. */
async function run(code: string, ...flags: readonly string[]): Promise<unknown> {
  const whole = `const schemas = await import(${JSON.stringify(MODULE)});\n${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", whole]);
  return JSON.parse(stdout);
}

describe("a fresh process", () => {
  const FORBID = "--disallow-code-generation-from-strings";

  it("W-39: judges without code generation", async () => {
    const code = `
      const validator = schemas.createInterpretingValidator();
      const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } }, unevaluatedProperties: false };
      const verdicts = [];
      for (const value of [{ a: "aa" }, { a: "b" }, { b: 1 }]) verdicts.push((await validator.validate(schema, value)).kind);
      console.log(JSON.stringify(verdicts));`;
    expect(await run(code, FORBID)).toEqual(["valid", "invalid", "invalid"]);
  });

  it("W-39: is told where code generation is forbidden, and imports the other without harm", async () => {
    const code = `
      const failure = await schemas.createAjvValidator().validate({}, 1).catch((error) => error);
      console.log(JSON.stringify([failure.code, failure.details]));`;
    expect(await run(code, FORBID)).toEqual(["unsupported", { feature: "code generation" }]);
  });

  it("W-38: reads of a thousand schemas the one that is used, once", async () => {
    const code = `
      const reads = [];
      const tools = Array.from({ length: 1000 }, (_, i) => ({ outputSchema: {
        get type() { reads.push(i); return "object"; },
        required: ["id"],
        properties: Object.fromEntries(Array.from({ length: 20 }, (_, j) => ["p" + i + "_" + j, { type: "string" }])),
      } }));
      const validator = schemas.createAjvValidator();
      const kinds = [];
      for (let i = 0; i < 2; i += 1) {
        kinds.push((await schemas.judgeStructuredContent(tools[999], { structuredContent: { id: i } }, validator)).kind);
      }
      console.log(JSON.stringify({ kinds, reads }));`;
    expect(await run(code)).toEqual({ kinds: ["valid", "valid"], reads: [999] });
  });

  it("W-39: loads the compiler only when something is judged", async () => {
    const code = `
      const { createRequire } = await import("node:module");
      const loaded = () => Object.keys(createRequire(${JSON.stringify(MODULE)}).cache).some((path) => path.includes("ajv"));
      const validator = schemas.createAjvValidator();
      const before = loaded();
      await validator.validate({ type: "string" }, "");
      console.log(JSON.stringify([before, loaded()]));`;
    expect(await run(code)).toEqual([false, true]);
  });
});
