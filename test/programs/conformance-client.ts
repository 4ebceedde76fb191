/**
 * The client that the official conformance suite drives: `conformance-client URL`, with the scenario in the environment. It does
 * what a scenario asks for with `remote-connector` alone, and ends with 0; the suite judges what it saw of it.
 */
import {
  type AnyRemoteConnectorError,
  connect,
  type InputHandlers,
  isRemoteConnectorError,
  type McpClient,
} from "remote-connector";
import type { OAuth } from "remote-connector/oauth";
import { createAuthorization, type ScenarioContext, type ToolCall } from "../conformance/authorizing.js";

type Deed = (client: McpClient) => Promise<void>;

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

/** What a client of `auth/…` does, whatever its scenario: everything else happens on the way. */
const authorizedDeed: Deed = async (client) => {
  await client.listAllTools();
  await client.callTool({ name: "test-tool", arguments: {} });
};

/** Scenarios that end with an error, and with which. Another one, or none, is a failure. */
const ERRORS: Readonly<Record<string, (error: AnyRemoteConnectorError) => boolean>> = {
  "auth/resource-mismatch": isInvalid("resource_metadata"),
  "auth/metadata-issuer-mismatch": isInvalid("server_metadata"),
  "auth/iss-supported-missing": isInvalid("callback"),
  "auth/iss-wrong-issuer": isInvalid("callback"),
  "auth/iss-unexpected": isInvalid("callback"),
  "auth/iss-normalized": isInvalid("callback"),
  "auth/scope-retry-limit": (error) => error.code === "token_refused" && error.details.status === 403,
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

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT = "{}" } = process.env;
const context: ScenarioContext = JSON.parse(MCP_CONFORMANCE_CONTEXT);
const endpoint = process.argv[2];
const isAuthorized = scenario.startsWith("auth/");
const deed = isAuthorized ? authorizedDeed : DEEDS[scenario];
if (endpoint === undefined) throw new Error("conformance-client URL");
if (deed === undefined) throw new Error(`nothing is written for ${JSON.stringify(scenario)}`);

let subject: McpClient | undefined;
const oauth: OAuth | undefined = isAuthorized ? await createAuthorization(scenario, context) : undefined;
try {
  // The era is not told: it has to be found.
  subject = await connect({
    endpoint,
    clientInfo: { name: "remote-connector-conformance", version: "1.0.0" },
    handlers: HANDLERS,
    ...(oauth === undefined ? {} : { authorize: oauth }),
  });
  await deed(subject);
  if (scenario in ERRORS) throw new Error("this must not succeed");
} catch (error) {
  if (!isRemoteConnectorError(error) || ERRORS[scenario]?.(error) !== true) {
    // The suite keeps what a client says; one line is enough to see what failed, and how.
    const how = isRemoteConnectorError(error)
      ? `${error.code}, ${error.delivery}, ${JSON.stringify(error.details)}: `
      : "";
    console.error(`${how}${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
} finally {
  await subject?.close();
  await oauth?.close();
}

/** What was published or answered breaks a rule, and was not used. */
function isInvalid(subjectOf: string): (error: AnyRemoteConnectorError) => boolean {
  return (error) => error.code === "oauth_invalid" && error.details.subject === subjectOf;
}

/** Whether a form has this member. */
function isAsked({ properties }: Readonly<Record<string, unknown>>, member: string): boolean {
  return typeof properties === "object" && properties !== null && member in properties;
}

/** The calls that the scenario's context prescribes. */
function toolCalls(): readonly ToolCall[] {
  return context.toolCalls ?? [];
}
