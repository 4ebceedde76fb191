/** The official server of revision 2026-07-28 on stdio, with a tool for each thing that a client has to take. */
import { inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

serveStdio(
  () => {
    const server = new McpServer({ name: "official", version: "1.0.0" });
    const aborted: unknown[] = [];
    server.registerTool("pid", {}, () => ({ content: [{ type: "text", text: String(process.pid) }] }));
    server.registerTool("aborted", {}, () => ({ content: [{ type: "text", text: JSON.stringify(aborted) }] }));
    server.registerTool("count", { inputSchema: z.object({ to: z.int() }) }, async ({ to }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= to; progress += 1) {
        if (progressToken === undefined) break;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: to } });
      }
      return { content: [{ type: "text", text: "counted" }] };
    });
    server.registerTool("wait", {}, async ({ mcpReq }) => {
      try {
        await pause(60_000, undefined, { signal: mcpReq.signal });
      } catch {
        aborted.push("wait");
      }
      return { content: [] };
    });
    server.registerTool("greet", {}, ({ mcpReq }) => {
      const answered = inputResponse(mcpReq.inputResponses, "who");
      if (answered.kind === "elicit" && answered.action === "accept") {
        return { content: [{ type: "text", text: `Hello, ${String(answered.content?.["name"])}` }] };
      }
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({
            message: "Your name?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          }),
        },
      });
    });
    server.registerTool("grow", {}, () => {
      server.registerTool(`grown-${String(Date.now())}`, {}, () => ({ content: [] }));
      return { content: [] };
    });
    return server;
  },
  { legacy: "reject" },
);
