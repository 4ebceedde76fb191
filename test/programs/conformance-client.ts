/**
 * The client that the official conformance suite drives: `conformance-client URL`, with the scenario in the environment. It does
 * what a scenario asks for with `remote-connector` alone, and ends with 0; the suite judges what it saw of it.
 */
import { connect, type InputHandlers, isRemoteConnectorError, type McpClient } from "remote-connector";

type Deed = (client: McpClient) => Promise<void>;

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const DEEDS: Readonly<Record<string, Deed>> = {
  initialize: async (client) => {
    await client.listAllTools();
  },
  "elicitation-sep1034-client-defaults": async (client) => {
    await client.listAllTools();
    await client.callTool({ name: "test_client_elicitation_defaults", arguments: {} });
  },
  "sse-retry": async (client) => {
    await client.listAllTools();
    await client.callTool({ name: "test_reconnection", arguments: {} });
  },
  tools_call: async (client) => {
    await client.listAllTools();
    await client.callTool({ name: "add_numbers", arguments: { a: 5, b: 3 } });
  },
  "request-metadata": async (client) => {
    await client.discover();
    await client.listAllTools();
  },
  "sep-2322-client-request-state": async (client) => {
    await client.listAllTools();
    for (const name of [
      "test_mrtr_echo_state",
      "test_mrtr_no_state",
      "test_mrtr_unrelated",
      "test_mrtr_no_result_type",
    ]) {
      await client.callTool({ name, arguments: {} });
    }
  },
  "http-standard-headers": async (client) => {
    for (const { name } of (await client.listAllTools()).tools) await client.callTool({ name, arguments: {} });
    for (const { uri } of (await client.listAllResources()).entries) await client.readResource({ uri });
    for (const { name } of (await client.listAllPrompts()).entries) await client.getPrompt({ name });
  },
  "http-custom-headers": async (client) => {
    await client.listAllTools();
    for (const call of toolCalls()) await client.callTool(call);
  },
  "http-invalid-tool-headers": async (client) => {
    for (const { name } of (await client.listAllTools()).tools) await client.callTool({ name, arguments: {} });
  },
  "json-schema-ref-no-deref": async (client) => {
    await client.listAllTools();
  },
  "json-schema-2020-12-preservation": async (client) => {
    const { tools } = await client.listAllTools();
    const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
    await client.callTool({ name: "json_schema_echo", arguments: { schema } });
  },
};

const HANDLERS: InputHandlers = {
  elicitation: {
    form: ({ requestedSchema }) => ({
      action: "accept",
      content: isAsked(requestedSchema, "confirmed") ? { confirmed: true } : {},
    }),
    url: () => ({ action: "decline" }),
  },
  sampling: {
    createMessage: () => ({ role: "assistant", content: { type: "text", text: "yes" }, model: "none" }),
  },
  roots: () => [],
};

const { MCP_CONFORMANCE_SCENARIO: scenario = "" } = process.env;
const endpoint = process.argv[2];
const deed = DEEDS[scenario];
if (endpoint === undefined) throw new Error("conformance-client URL");
if (deed === undefined) throw new Error(`nothing is written for ${JSON.stringify(scenario)}`);

let subject: McpClient | undefined;
try {
  // The era is not told: it has to be found.
  subject = await connect({
    endpoint,
    clientInfo: { name: "remote-connector-conformance", version: "1.0.0" },
    handlers: HANDLERS,
  });
  await deed(subject);
} catch (error) {
  // The suite keeps what a client says; one line is enough to see what failed, and how.
  const how = isRemoteConnectorError(error) ? `${error.code}, ${error.delivery}: ` : "";
  console.error(`${how}${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await subject?.close();
}

/** Whether a form has this member. */
function isAsked({ properties }: Readonly<Record<string, unknown>>, member: string): boolean {
  return typeof properties === "object" && properties !== null && member in properties;
}

/** The calls that the scenario's context prescribes. */
function toolCalls(): readonly ToolCall[] {
  const context: { readonly toolCalls: readonly ToolCall[] } = JSON.parse(
    process.env["MCP_CONFORMANCE_CONTEXT"] ?? '{"toolCalls":[]}',
  );
  return context.toolCalls;
}
