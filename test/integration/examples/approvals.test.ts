import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import type { BoundAgent } from "../../../src/connector-host/index.js";
import { likeModernServer, ScriptedServer } from "../../../src/testing/index.js";
import { RawAgent } from "../../support/agent.js";

it("H-32: the example asks a person for each call, and makes those that are approved", async () => {
  const run = (args: object) => ({ content: [{ type: "text", text: JSON.stringify(args) }] });
  const server = await ScriptedServer.start(likeModernServer({ tools: [{ name: "drop", run }] }));
  onTestFinished(() => server.close());
  const child = spawn(process.execPath, ["build/examples/approvals.js", server.url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const hears = async (start: string): Promise<string> => {
    await expect.poll(() => lines.some((line) => line.startsWith(start)), { timeout: 15_000 }).toBe(true);
    return lines.splice(0).find((line) => line.startsWith(start)) ?? "";
  };
  const bound: Pick<BoundAgent, "url" | "headers"> = JSON.parse((await hears("agent ")).slice("agent ".length));
  const agent = new RawAgent(bound);
  const decided = async (word: string, id: number) => {
    const call = agent.call("demo_drop", { id });
    const asked = await hears("ask ");
    expect(asked).toMatch(new RegExp(`^ask \\S+ "agent" calls "drop" of "Demo" with \\{"id":${String(id)}\\} 0$`));
    child.stdin.write(`${word} ${asked.split(" ")[1] ?? ""}\n`);
    return call;
  };
  expect((await decided("approve", 1)).result).toMatchObject({ content: [{ text: '{"id":1}' }] });
  expect((await decided("no", 2)).error?.data).toMatchObject({
    "sh.tutti/delivery": { code: "approval_denied", delivery: "not_sent", reason: "denied" },
  });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
