import { isRemoteConnectorError } from "../../errors.js";
import {
  type AnswerSources,
  answererOf,
  handlerFailed,
  type InputContext,
  type InputRequest,
} from "../../protocol/input/index.js";
import { encodeJson } from "../encode-json.js";

/** What the answers depend on. */
export interface AsksSources extends AnswerSources {
  readonly server: InputContext["server"];
}

/**
 * Asks the handlers for everything at once; resolves to `inputResponses` as JSON: every key, and no other.
 *
 * Nobody is asked anything before it is certain that everything has a handler. The first failure ends it: the `signal` of the
 * other handlers fires. Rejects with `input_required` and `handler_failed` (both `answered`).
 */
export async function answerAsks(
  requests: ReadonlyMap<string, InputRequest>,
  sources: AsksSources,
  signal: AbortSignal,
): Promise<string> {
  const answerers = [...requests].map(([key, request]) => ({
    key,
    request,
    answer: answererOf(key, request, sources),
  }));
  const failure = new AbortController();
  const context: InputContext = { server: sources.server, signal: AbortSignal.any([signal, failure.signal]) };
  try {
    const members = await Promise.all(
      answerers.map(async ({ key, request, answer }) => {
        try {
          return `${JSON.stringify(key)}:${encodeJson("input", await answer(context))}`;
        } catch (error) {
          throw isRemoteConnectorError(error, "handler_failed")
            ? error
            : handlerFailed(key, request, "it threw", error);
        }
      }),
    );
    return `{${members.join(",")}}`;
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}
