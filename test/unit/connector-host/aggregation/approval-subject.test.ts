import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../../../src/protocol/index.js";
import { approvalSubject } from "../../../../src/connector-host/aggregation/approval-subject.js";

const contract: ToolContract = { parameters: [] };
const digest = (definition: string | Uint8Array | undefined, of = contract): string =>
  approvalSubject({ contract: of, definition }).contractDigest;
const tool = (more: object): string => JSON.stringify({ name: "a_drop", inputSchema: { type: "object" }, ...more });

describe("H-32: what of a tool an approval is about", () => {
  it("H-32: is the same under another name, and as bytes", () => {
    expect(digest(tool({ name: "b_drop" }))).toBe(digest(tool({})));
    expect(digest(Buffer.from(tool({})))).toBe(digest(tool({})));
  });

  it.each<[string, object]>([
    ["description", { description: "Drops all." }],
    ["title", { title: "Drop" }],
    ["schema", { inputSchema: { type: "object", required: ["id"] } }],
    ["annotations", { annotations: { readOnlyHint: true } }],
  ])("H-32: is another with another %s", (_what, more) => {
    expect(digest(tool(more))).not.toBe(digest(tool({})));
  });

  it("H-32: is another with another contract, and where the definition is not known", () => {
    const mirrored = { parameters: [{ header: "Mcp-Param-Id", path: ["id"] }] };
    expect(digest(tool({}), mirrored)).not.toBe(digest(tool({})));
    expect(new Set([digest(undefined), digest("{}"), digest(tool({}))]).size).toBe(3);
  });

  it.each<[object, string | undefined]>([
    [{ title: "T", annotations: { title: "A" } }, "T"],
    [{ annotations: { title: "A" } }, "A"],
    [{ title: 1, annotations: [] }, undefined],
    [{}, undefined],
  ])("H-32: has the title of %j: %s", (more, title) => {
    expect(approvalSubject({ contract, definition: tool(more) }).toolTitle).toBe(title);
    expect(approvalSubject({ contract, definition: undefined }).toolTitle).toBeUndefined();
  });
});
