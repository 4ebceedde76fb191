import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  createAdaptiveValidator,
  createAjvValidator,
  createInterpretingValidator,
} from "../../../src/protocol/json-schema/index.js";
import { ROOT } from "../../architecture/source-tree.js";

const MODULE = pathToFileURL(join(ROOT, "dist", "protocol", "json-schema", "index.js")).href;

/** Runs code in a fresh process, which imports the built folder, and reads the JSON that it prints. */
async function run(code: string, ...flags: readonly string[]): Promise<unknown> {
  const whole = `const { createRequire } = await import("node:module");
    const schemas = await import(${JSON.stringify(MODULE)});
    const loaded = () => Object.keys(createRequire(${JSON.stringify(MODULE)}).cache).some((path) => path.includes("ajv"));
    const validator = schemas.createAdaptiveValidator();
    const schema = { type: "object", required: ["id"], properties: { id: { type: "integer" } } };
    const kindOf = async (value) => (await validator.validate(schema, value)).kind;
    ${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", whole]);
  return JSON.parse(stdout);
}

describe("W-39 the validator that is used when none is given", () => {
  it("loads no compiler for the first values of a schema, and does for later ones", async () => {
    const code = `
      const seen = [];
      for (let id = 0; id < 9; id += 1) seen.push([await kindOf({ id }), loaded()]);
      console.log(JSON.stringify(seen));`;
    expect(await run(code)).toEqual([...Array.from({ length: 8 }, () => ["valid", false]), ["valid", true]]);
  });

  it("judges where code generation is forbidden, from the first value to the last", async () => {
    const code = `
      const seen = new Set();
      for (let id = 0; id < 12; id += 1) seen.add(await kindOf({ id })).add(await kindOf({}));
      console.log(JSON.stringify([...seen]));`;
    expect(await run(code, "--disallow-code-generation-from-strings")).toEqual(["valid", "invalid"]);
  });

  it("tells problems in the same words, whoever looked first", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", maxLength: 1 }, b: { enum: [1] } },
      required: ["c"],
    };
    const adaptive = createAdaptiveValidator();
    const ofAjv = await createAjvValidator().validate(schema, { a: "long", b: 2 });
    expect(await adaptive.validate(schema, { a: "long", b: 2 })).toEqual(ofAjv);
    expect(ofAjv).not.toEqual(await createInterpretingValidator().validate(schema, { a: "long", b: 2 }));
  });

  it("judges also by what the interpreter refuses", async () => {
    const schema = {
      type: "object",
      patternProperties: { "^a(b|c)+$": { type: "string" } },
      additionalProperties: false,
    };
    expect((await createInterpretingValidator().validate(schema, {})).kind).toBe("unsupported_dialect");
    const adaptive = createAdaptiveValidator();
    expect((await adaptive.validate(schema, { abcb: "x" })).kind).toBe("valid");
    expect((await adaptive.validate(schema, { abcb: 1 })).kind).toBe("invalid");
  });
});
