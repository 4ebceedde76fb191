import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequests,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { gives, says, text } from "./content.js";

const description = "Asks the client before it answers.";

/** An elicitation of one text. */
function askFor(property: string, message: string) {
  const properties = { [property]: { type: "string" as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required: [property] } });
}

function sample(prompt: string, maxTokens: number) {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });
}

const CONFIRM = inputRequired.elicit({
  message: "Please confirm",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
});

/** Tools that ask in one round, and the prompt that does. */
export function addAskingTools(server: McpServer): void {
  asksOnce(server, "test_input_required_result_elicitation", { user_name: askFor("name", "What is your name?") });
  asksOnce(server, "test_input_required_result_sampling", {
    capital_question: sample("What is the capital of France?", 100),
  });
  asksOnce(server, "test_input_required_result_list_roots", { client_roots: inputRequired.listRoots() });
  asksOnce(server, "test_missing_capability", { needed: sample("Anything", 10) });
  asksOnce(server, "test_streaming_elicitation", { needed: askFor("name", "What is your name?") });
  server.registerTool("test_input_required_result_capabilities", { description }, ({ mcpReq }) => {
    const declared = Object(Reflect.get(Object(mcpReq.envelope), CLIENT_CAPABILITIES_META_KEY));
    const inputRequests: InputRequests = {};
    if ("sampling" in declared) inputRequests["sampled"] = sample("Anything", 10);
    if ("elicitation" in declared) inputRequests["elicited"] = askFor("name", "What is your name?");
    return answered({ mcpReq }, inputRequests) ? gives(text("Answered.")) : inputRequired({ inputRequests });
  });
  server.registerPrompt("test_input_required_result_prompt", { description }, ({ mcpReq }) => {
    const inputRequests = { user_context: askFor("context", "What context should the prompt use?") };
    if (!answered({ mcpReq }, inputRequests)) return inputRequired({ inputRequests });
    return says(text("Go on in this context."));
  });
}

/** Tools that keep their place in the client's hands, sealed by `states`. */
export function addStatefulTools(server: McpServer, states: RequestStateCodec): void {
  asksOnce(server, "test_input_required_result_request_state", { confirm: CONFIRM }, states, "state-ok");
  asksOnce(server, "test_input_required_result_tampered_state", { confirm: CONFIRM }, states);
  const three = {
    user_name: askFor("name", "What is your name?"),
    greeting: sample("Generate a greeting", 50),
    client_roots: inputRequired.listRoots(),
  };
  asksOnce(server, "test_input_required_result_multiple_inputs", three, states);
  server.registerTool("test_input_required_result_multi_round", { description }, async (context) => {
    const round = context.mcpReq.requestState<number>() ?? 0;
    const steps: InputRequests[] = [
      { step1: askFor("name", "Step 1: What is your name?") },
      { step2: askFor("color", "Step 2: What is your favorite color?") },
    ];
    const asked = steps[round - 1] ?? {};
    const reached = round > 0 && answered(context, asked) ? round + 1 : Math.max(round, 1);
    const inputRequests = steps[reached - 1];
    if (inputRequests === undefined) return gives(text("All steps are done."));
    return inputRequired({ inputRequests, requestState: await states.mint(reached) });
  });
}

/** How a server asks while it answers a call: by itself, as in the older era, or by a result that asks. */
type Asking = "waits" | "returns";

/** Tools for the scenarios of the older era. A client of that era can reach them behind a host that speaks the newer one with us. */
export function addWaitingTools(server: McpServer, era: "modern" | "legacy"): void {
  const asking: Asking = era === "legacy" ? "waits" : "returns";
  server.registerTool(
    "test_sampling",
    { description, inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const responded = (content: unknown) => gives(text(`LLM response: ${JSON.stringify(content)}`));
      if (asking === "returns") {
        const answer = inputResponse(mcpReq.inputResponses, "sampled");
        if (answer.kind === "sampling") return responded(answer.result.content);
        return inputRequired({ inputRequests: { sampled: sample(prompt, 100) } });
      }
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return responded(content);
    },
  );
  server.registerTool(
    "test_elicitation",
    { description, inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) =>
      elicit(context, asking, message, {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      }),
  );
  server.registerTool("test_elicitation_sep1034_defaults", { description }, (context) =>
    elicit(context, asking, "Fill in what is missing", DEFAULTS),
  );
  server.registerTool("test_elicitation_sep1330_enums", { description }, (context) =>
    elicit(context, asking, "Choose", CHOICES),
  );
}

type Properties = Parameters<ServerContext["mcpReq"]["elicitInput"]>[0] extends infer Params
  ? Params extends { requestedSchema: { properties: infer P } }
    ? P
    : never
  : never;

const DEFAULTS: Properties = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const CHOICES: Properties = {
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: {
    type: "string",
    oneOf: [
      { const: "value1", title: "First Option" },
      { const: "value2", title: "Second Option" },
      { const: "value3", title: "Third Option" },
    ],
  },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
  titledMulti: {
    type: "array",
    items: {
      anyOf: [
        { const: "value1", title: "First Choice" },
        { const: "value2", title: "Second Choice" },
        { const: "value3", title: "Third Choice" },
      ],
    },
  },
};

async function elicit({ mcpReq }: ServerContext, asking: Asking, message: string, properties: Properties) {
  const form = { message, requestedSchema: { type: "object" as const, properties } };
  const answer = asking === "waits" ? await mcpReq.elicitInput(form) : inputResponse(mcpReq.inputResponses, "form");
  if (!("action" in answer)) return inputRequired({ inputRequests: { form: inputRequired.elicit(form) } });
  const { action, content } = answer;
  return gives(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`));
}

/** A tool that asks until everything was answered. With `states` the client carries a state along. */
function asksOnce(
  server: McpServer,
  name: string,
  inputRequests: InputRequests,
  states?: RequestStateCodec,
  said = "Answered.",
): void {
  server.registerTool(name, { description }, async (context) => {
    const isKnown = states === undefined || context.mcpReq.requestState() !== undefined;
    if (isKnown && answered(context, inputRequests)) return gives(text(said));
    if (states === undefined) return inputRequired({ inputRequests });
    return inputRequired({ inputRequests, requestState: await states.mint(1) });
  });
}

/** Whether the client gave an answer of some kind to each. */
function answered({ mcpReq }: Pick<ServerContext, "mcpReq">, asked: InputRequests): boolean {
  const keys = Object.keys(asked);
  return keys.length > 0 && keys.every((key) => inputResponse(mcpReq.inputResponses, key).kind !== "missing");
}
