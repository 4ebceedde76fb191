import { errorLine, type Refusal } from "../../serving/index.js";
import type { Answer } from "./request-target.js";

/** The answer to a request that was refused before anything acted on it. */
export function refusedAnswer({ status, id, error }: Refusal): Answer {
  return { status, body: errorLine(id, error) };
}
