import type { ForwardedRequest, UpstreamAnswer } from "../../../../src/connector-host/local-server/index.js";
import type { ServerAsk, ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { answerOf } from "./fixed-directory.js";

/** What a server asks for, in the form of 2025-11-25. */
export const FORM: ServerAsk = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};
export const PAGE: ServerAsk = {
  method: "elicitation/create",
  params: { mode: "url", message: "Visit", url: "https://example.com/", elicitationId: "e1" },
};
export const SAMPLING: ServerAsk = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "2+2" } }], maxTokens: 10 },
};
export const ROOTS: ServerAsk = { method: "roots/list", params: undefined };

/** What an agent declares that can be asked all of it. */
export const ASKABLE = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export const ACCEPTED = { action: "accept", content: { name: "n" } };

/** Asks the agent of a request. Throws when it can't be asked. */
export async function askOf(
  { input }: ForwardedRequest,
  question: ServerAsk,
  signal: AbortSignal = new AbortController().signal,
): Promise<ServerAskAnswer> {
  if (input?.ask === undefined) throw new Error("The agent can't be asked");
  return input.ask(question, signal);
}

/** What asks its agent one question after the other, and results in the answers. */
export function asks(questions: readonly ServerAsk[]): (request: ForwardedRequest) => Promise<UpstreamAnswer> {
  return async (request) => {
    const answers: ServerAskAnswer[] = [];
    for (const question of questions) answers.push(await askOf(request, question));
    return answered(answers);
  };
}

/** A result that tells what was answered. */
export function answered(answers: readonly ServerAskAnswer[]): UpstreamAnswer {
  const content = [{ type: "text", text: JSON.stringify(answers) }];
  return answerOf(JSON.stringify({ content, contents: [], messages: [], answers }), "legacy");
}
