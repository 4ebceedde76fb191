import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { ModernStreamableHTTPClient, type Task } from "remote-connector";

const [endpoint = "http://127.0.0.1:3000/mcp", file = "task.json"] = process.argv.slice(2);
const client = new ModernStreamableHTTPClient({
  endpoint,
  clientInfo: { name: "resume-task", version: "1.0.0" },
  tasks: true,
});

// A long call outlives its process: its task is stored before anything is asked about it, and whoever finds it goes on.
const stored: Task | undefined = existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : undefined;
const { content } =
  stored === undefined
    ? await client.callTool(
        { name: "render", arguments: { frames: 240 } },
        { onTask: (task) => writeFile(file, JSON.stringify(task)) },
      )
    : await client.resumeTask(stored);
await rm(file, { force: true });
console.log(stored === undefined ? "called:" : "resumed:", JSON.stringify(content));
await client.close();
