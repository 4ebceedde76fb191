import { McpServer, type RequestStateCodec } from "@modelcontextprotocol/server";
import { addAskingTools, addStatefulTools, addWaitingTools } from "./asking-tools.js";
import { gives, text } from "./content.js";
import { addPrompts, addResources } from "./entries.js";
import { addPlainTools } from "./plain-tools.js";

/** What the servers of one process share. */
export interface Shared {
  /** Seals what tools leave with the client. */
  readonly states: RequestStateCodec;
  /** How often the list of tools, and that of prompts, was changed. */
  readonly changes: { tools: number; prompts: number };
  /** Tells clients that listen. */
  readonly announce: { toolsChanged(): void; promptsChanged(): void };
}

/** A server with everything that the server scenarios of the suite name. The lists of one era differ from those of the other. */
export function createUpstream(era: "modern" | "legacy", { states, changes, announce }: Shared): McpServer {
  const server = new McpServer(
    { name: "conformance-upstream", version: "1.0.0" },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  );
  addPlainTools(server);
  addPrompts(server);
  addResources(server);
  addAskingTools(server);
  addStatefulTools(server, states);
  addWaitingTools(server, era);
  const description = "Changes a list.";
  server.registerTool("test_trigger_tool_change", { description }, () => {
    changes.tools += 1;
    announce.toolsChanged();
    return gives(text("Changed."));
  });
  server.registerTool("test_trigger_prompt_change", { description }, () => {
    changes.prompts += 1;
    announce.promptsChanged();
    return gives(text("Changed."));
  });
  // A list has changed only when something in it has.
  if (changes.tools % 2 === 1) server.registerTool("test_added_tool", { description }, () => gives(text("Here.")));
  if (changes.prompts % 2 === 1) {
    server.registerPrompt("test_added_prompt", { description }, () => ({
      messages: [{ role: "user", content: { type: "text", text: "Here." } }],
    }));
  }
  return server;
}
