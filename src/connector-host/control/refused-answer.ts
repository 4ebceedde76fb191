import { RemoteConnectorError } from "../../errors.js";
import type { HttpAnswer } from "../../transport/index.js";

/** Of a refusal that is told. */
const SNIPPET_CHARACTERS = 512;

/** The failure of a request that is refused for a reason that has no error of its own. */
export function refusedAnswer({ status, mediaType, body }: HttpAnswer): RemoteConnectorError<"unexpected_answer"> {
  const text = new TextDecoder().decode(body.subarray(0, SNIPPET_CHARACTERS * 4));
  const snippet = text.replaceAll(/\p{Cc}/gu, " ").slice(0, SNIPPET_CHARACTERS);
  return new RemoteConnectorError("unexpected_answer", {
    message: `The host refuses the request: ${String(status)}.`,
    delivery: "answered",
    details: { status, mediaType, snippet, reason: "refused" },
  });
}
