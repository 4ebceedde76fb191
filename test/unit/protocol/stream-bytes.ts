import { StreamDecoder, type StreamEvent } from "../../../src/protocol/index.js";

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A decoder with no limit to speak of, and the events that came out of it so far. */
export function open(maxEventBytes = 1_000_000): { readonly decoder: StreamDecoder; readonly events: StreamEvent[] } {
  const events: StreamEvent[] = [];
  return { events, decoder: new StreamDecoder({ maxEventBytes, onEvent: (event) => events.push(event) }) };
}

export function decodeChunks(chunks: readonly Uint8Array[]): StreamEvent[] {
  const { decoder, events } = open();
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return events;
}

export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const bounds = [0, ...places.toSorted((a, b) => a - b), bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

/** The standard's algorithm on the whole text at once, with what this module does otherwise: see `dispatch`. */
export function decodeByTheBook(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let data: string[] = [];
  let id: string | undefined;
  let event: string | undefined;
  const dispatch = (unterminated: boolean): void => {
    const joined = data.join("\n");
    // Nothing to say, unless it moves the place to resume from.
    if (data.length > 0 && (joined !== "" || id !== undefined)) events.push({ data: joined, id, event, unterminated });
    data = [];
    id = undefined;
    event = undefined;
  };
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  lines.forEach((line, index) => {
    const isRest = index === lines.length - 1;
    const [field = "", value = ""] = /^([^:]*):? ?(.*)$/su.exec(line)?.slice(1) ?? [];
    if (line === "") dispatch(isRest);
    else if (field === "data") data.push(value);
    else if (field === "event") event = value === "" ? undefined : value;
    else if (field === "id" && !value.includes("\0")) id = value;
    if (isRest) dispatch(true);
  });
  return events;
}
