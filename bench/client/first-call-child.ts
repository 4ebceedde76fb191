/** Lists many tools in a fresh process, calls one of them, and sends the milliseconds that this first call took. */
import { ModernStreamableHTTPClient } from "remote-connector/modern-client";
import type { SchemaValidator } from "remote-connector/protocol/json-schema";
import { textOf } from "../support/contenders.js";
import { expectSame } from "../support/bar.js";
import { RECORDS_TEXT, toolName } from "./payloads.js";

const [how = "", url = "", count = ""] = process.argv.slice(2);
const CALL = { name: toolName(Number(count) - 1), arguments: { query: "x" } };
const wantsVerdict = how === "judged" || how === "loaded";

const client = new ModernStreamableHTTPClient({
  endpoint: url,
  clientInfo: { name: "bench", version: "1" },
  schemaValidator: how === "loaded" ? await loadedValidator() : undefined,
});
expectSame("tools listed", (await client.listTools()).tools.length, Number(count));
const startedAt = performance.now();
await callOnce();
const elapsedMs = performance.now() - startedAt;
process.send?.(elapsedMs, () => process.exit(0));

/** What a host does that is going to judge: it loads what judges while it starts. */
async function loadedValidator(): Promise<SchemaValidator> {
  const { createAdaptiveValidator } = await import("remote-connector/protocol/json-schema");
  const validator = createAdaptiveValidator();
  await validator.load();
  return validator;
}

async function callOnce(): Promise<void> {
  if (!wantsVerdict) {
    expectSame("result", textOf((await client.callTool(CALL)).content), RECORDS_TEXT);
    return;
  }
  const { result, verdicts } = await client.callTool(CALL, { detail: true });
  expectSame("result", textOf(result.content), RECORDS_TEXT);
  expectSame("verdict", verdicts?.output?.kind, "valid");
}
