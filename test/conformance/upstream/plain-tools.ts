import { setTimeout as pause } from "node:timers/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AUDIO, embedded, gives, IMAGE, text } from "./content.js";

const PAUSE_MS = 50;

/** Tools that answer by themselves: each kind of content, a failure, progress and log messages. */
export function addPlainTools(server: McpServer): void {
  const description = "Answers by itself.";
  server.registerTool("test_simple_text", { description }, () =>
    gives(text("This is a simple text response for testing.")),
  );
  server.registerTool("test_image_content", { description }, () => gives(IMAGE));
  server.registerTool("test_audio_content", { description }, () => gives(AUDIO));
  server.registerTool("test_embedded_resource", { description }, () =>
    gives(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  );
  server.registerTool("test_multiple_content_types", { description }, () =>
    gives(
      text("Multiple content types test:"),
      IMAGE,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  );
  server.registerTool("test_error_handling", { description }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_progress", { description }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await pause(PAUSE_MS);
      if (progressToken === undefined) continue;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    return gives(text("Told of its progress."));
  });
  server.registerTool("test_tool_with_logging", { description }, async ({ mcpReq }) => {
    await mcpReq.log("info", "Tool execution started");
    await pause(PAUSE_MS);
    await mcpReq.log("info", "Tool processing data");
    await pause(PAUSE_MS);
    await mcpReq.log("info", "Tool execution completed");
    return gives(text("Logged what it did."));
  });
  server.registerTool("test_logging_tool", { description }, async ({ mcpReq }) => {
    await mcpReq.log("info", "Only for those who asked for it");
    return gives(text("Logged."));
  });
  server.registerTool("test_echo_header", { description, inputSchema: echoed }, ({ region }) => gives(text(region)));
}

/** A parameter that travels in a header too. */
const echoed = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });
