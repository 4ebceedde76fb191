import { expect, it, onTestFinished } from "vitest";
import { fileURLToPath } from "node:url";
import { superviseServer } from "../../../src/connect/index.js";
it("smoke", async () => {
  const program = fileURLToPath(new URL(`../../../build/test/programs/restless-stdio-server.js`, import.meta.url));
  const seen: unknown[] = [];
  const t0 = Date.now();
  const server = superviseServer({ command: process.execPath, args: [program, "{}"], clientInfo: { name: "t", version: "1" }, closeGraceMs: 300, onState: (s) => seen.push([Date.now() - t0, s.kind]), onTools: (l) => seen.push([Date.now() - t0, l.tools.length]) });
  onTestFinished(() => server.close());
  console.log(await server.callTool({ name: "pid" }));
  console.log(await server.callTool({ name: "storm", arguments: { changes: 200 } }));
  await new Promise((r) => setTimeout(r, 1500));
  console.log(await server.callTool({ name: "lists" }));
  console.log(await server.callTool({ name: "die" }).catch((e) => [e.code, e.delivery]));
  console.log(await server.callTool({ name: "pid" }));
  console.log(JSON.stringify(seen));
  expect(1).toBe(1);
});
