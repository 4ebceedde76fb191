import { isJsonObject, type Implementation, type JsonObject, MetaKey } from "../../protocol/index.js";
import type { SchemaValidator } from "../../protocol/json-schema/index.js";
import {
  type InputHandlers,
  type InputRequest,
  type OurTime,
  pauseOfRound,
  tooManyRounds,
} from "../../protocol/input/index.js";
import type { RoundInput } from "../request-message.js";
import { answerAsks } from "./answer-asks.js";
import { readAsks } from "./input-asks.js";

/** How a client answers servers that ask for input. */
export interface InputConfig {
  readonly handlers: InputHandlers;
  /** Gives what judges the content of forms. */
  readonly loadValidator: () => Promise<SchemaValidator>;
  readonly maxInputRounds: number;
  /** The origin of the endpoint, or `stdio:` and the command. */
  readonly origin: string;
}

/** What comes before the request is made again. */
export type RoundStep =
  /** Somebody is asked; the time is theirs, but for what `ours` does. */
  | { readonly kind: "ask"; readonly answer: (signal: AbortSignal, ours: OurTime) => Promise<RoundInput> }
  /** Nothing is asked: a pause, so that a server can't make us spin. */
  | { readonly kind: "pause"; readonly delayMs: number; readonly input: RoundInput };

interface Asked {
  readonly requests: ReadonlyMap<string, InputRequest>;
  readonly result: JsonObject;
  readonly state: string | undefined;
}

/** The rounds that one call takes. Source: 2026-07-28, Multi Round-Trip Requests. */
export class InputRounds {
  readonly #config: InputConfig;
  #rounds = 0;
  #pauses = 0;

  constructor(config: InputConfig) {
    this.#config = config;
  }

  /**
   * The next round. Throws `limit_exceeded` of `maxInputRounds` (`answered`), and what `readAsks` throws; the answers
   * reject with `input_required` and `handler_failed` (`answered`).
   */
  next(result: JsonObject): RoundStep {
    const { requests, state } = readAsks(result);
    const { maxInputRounds } = this.#config;
    this.#rounds += 1;
    if (this.#rounds > maxInputRounds) throw tooManyRounds(maxInputRounds);
    if (requests !== undefined && requests.size > 0) {
      return { kind: "ask", answer: (signal, ours) => this.#answer({ requests, result, state }, signal, ours) };
    }
    const delayMs = pauseOfRound(this.#pauses);
    this.#pauses += 1;
    return { kind: "pause", delayMs, input: { responsesJson: requests === undefined ? undefined : "{}", state } };
  }

  async #answer({ requests, result, state }: Asked, signal: AbortSignal, ours: OurTime): Promise<RoundInput> {
    const { handlers, loadValidator, origin } = this.#config;
    const server = { origin, info: serverInfoIn(result) };
    return { responsesJson: await answerAsks(requests, { handlers, loadValidator, server, ours }, signal), state };
  }
}

function serverInfoIn(result: JsonObject): Implementation | undefined {
  const meta = result["_meta"];
  const info = isJsonObject(meta) ? meta[MetaKey.serverInfo] : undefined;
  if (!isJsonObject(info)) return undefined;
  const { name, version } = info;
  return typeof name === "string" && typeof version === "string" ? { ...info, name, version } : undefined;
}
