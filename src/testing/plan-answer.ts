import { STATUS_CODES } from "node:http";
import { gzipSync } from "node:zlib";
import { RemoteConnectorError } from "../errors.js";
import type { Answer } from "./answer.js";
import type { EventFeed } from "./event-feed.js";
import { encodeEventTemplate } from "./event.js";
import type { Fault, Place } from "./fault.js";
import { type AnsweredRequest, encodeMessage } from "./message.js";

/** One thing to do on the connection; each is done before the next begins. */
export type Step =
  | { readonly kind: "write"; readonly bytes: Uint8Array }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "hold"; readonly until: Promise<unknown> }
  | { readonly kind: "flood"; readonly piece: Uint8Array; readonly everyMs: number; readonly maxBytes: number }
  /** Writes what comes until the feed ends. */
  | { readonly kind: "feed"; readonly feed: EventFeed; readonly isChunked: boolean };

/** What becomes of the connection: it takes the next request, or is closed, reset, or left silent. */
export type Ending = "next" | "fin" | "reset" | "stall";

/** An answer as what to do on the connection. */
export interface AnswerPlan {
  readonly steps: readonly Step[];
  readonly ending: Ending;
  readonly closeIdleAfterMs: number | undefined;
}

/** The payload, and where its parts end. */
interface Payload {
  readonly bytes: Uint8Array;
  /** Offsets behind each whole event. */
  readonly eventEnds: readonly number[];
}

/** The bytes of the answer, and how its places are found among them. */
interface Wire {
  readonly bytes: Uint8Array;
  /** Where the headers end, the blank line not included. */
  readonly headersEnd: number;
  /** Where the last byte of the payload ends. */
  readonly payloadEnd: number;
  /** Where a byte of the payload stands. */
  payloadOffset(offset: number): number;
}

type FaultOf<K extends Fault["kind"]> = Extract<Fault, { readonly kind: K }>;
type Marker = { readonly at: number; readonly step: Step };

const NOTHING: Payload = { bytes: new Uint8Array(), eventEnds: [] };
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Turns an answer and its faults into steps. Pure.
 *
 * Throws `invalid_argument` for a place that the answer doesn't have, and for faults that can't be together.
 */
export function planAnswer(answer: Answer, request: AnsweredRequest): AnswerPlan {
  const faults = new FaultSet(answer.faults);
  const { flood, isOpen } = faults;
  const payload = encodePayload(answer, request, faults.has("compress"));
  const wire = answer.body.kind === "raw" ? rawWire(payload) : encodeWire(answer, payload, faults);
  const locate = (place: Place): number => locatePlace(place, wire, payload);
  const stop = faults.only("stop");
  const stopAt = stop === undefined ? Infinity : locate(stop.at);
  // What never ends leaves out all that stands behind it.
  let end = wire.bytes.length;
  if (flood?.of === "headers") end = wire.headersEnd;
  else if (isOpen || answer.body.kind === "feed") end = wire.payloadEnd;
  const cut = Math.min(end, stopAt);
  const markers = [
    ...faults.markers(locate).filter(({ at }) => at <= stopAt),
    ...dripMarkers(faults.only("drip"), cut),
    ...[...floodMarkers(flood, end, answer), ...feedMarkers(answer, end, isOpen)].filter(({ at }) => at < stopAt),
  ];
  const closes = answer.framing === "close" && answer.body.kind !== "raw";
  let ending: Ending = closes ? "fin" : "next";
  if (isOpen) ending = "stall";
  if (stop !== undefined) ending = stop.how;
  return {
    steps: [...faults.informing(), ...interleave(wire.bytes.subarray(0, cut), markers)],
    ending,
    closeIdleAfterMs: faults.only("close_idle")?.ms,
  };
}

/** The faults of one answer, by kind. */
class FaultSet {
  readonly #faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  has(kind: Fault["kind"]): boolean {
    return this.#faults.some((fault) => fault.kind === kind);
  }

  only<K extends Fault["kind"]>(kind: K): FaultOf<K> | undefined {
    const found = this.#faults.filter((fault): fault is FaultOf<K> => fault.kind === kind);
    if (found.length > 1) refuse("faults", `more than one of the kind ${kind}`);
    return found[0];
  }

  get flood(): FaultOf<"flood"> | undefined {
    return this.only("flood");
  }

  /** Whether the body does not end. */
  get isOpen(): boolean {
    return this.has("keep_open") || this.has("flood");
  }

  /** The offsets of the payload at which its chunks end. */
  chunkEnds(payload: Payload): readonly number[] {
    const places = this.#faults.flatMap((fault) => (fault.kind === "pause" || fault.kind === "hold" ? [fault.at] : []));
    const ends = places.flatMap((place) => (typeof place === "number" ? [] : [payloadPlace(place, payload)]));
    return [...new Set([...ends, ...payload.eventEnds, payload.bytes.length])].toSorted((a, b) => a - b);
  }

  markers(locate: (place: Place) => number): readonly Marker[] {
    return this.#faults.flatMap((fault): Marker[] => {
      if (fault.kind === "pause") return [{ at: locate(fault.at), step: { kind: "pause", ms: fault.ms } }];
      if (fault.kind === "hold") return [{ at: locate(fault.at), step: { kind: "hold", until: fault.until } }];
      return [];
    });
  }

  informing(): readonly Step[] {
    return this.#faults.flatMap((fault): Step[] => {
      if (fault.kind !== "inform") return [];
      const lines = Object.entries(fault.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      return [{ kind: "write", bytes: Buffer.from(`${statusLine(fault.status)}${lines.join("")}\r\n`, "latin1") }];
    });
  }
}

function encodePayload({ body, type }: Answer, request: AnsweredRequest, compressed: boolean): Payload {
  switch (body.kind) {
    case "none":
    case "feed":
      if (compressed) refuse("compress", `${type ?? "an empty body"} can't be compressed`);
      return NOTHING;
    case "raw":
    case "bytes":
      return pack(Buffer.from(body.bytes), [], compressed);
    case "message":
      return pack(Buffer.from(encodeMessage(body.message, request)), [], compressed);
    case "events": {
      const pieces = body.events.map((event) => Buffer.from(encodeEventTemplate(event, request, body.lineEnd)));
      let end = 0;
      const ends = pieces.map((piece) => (end += piece.length));
      return pack(Buffer.concat(pieces), ends, compressed);
    }
  }
}

function pack(bytes: Uint8Array, eventEnds: readonly number[], compressed: boolean): Payload {
  return compressed ? { bytes: gzipSync(bytes), eventEnds: [] } : { bytes, eventEnds };
}

function rawWire({ bytes }: Payload): Wire {
  return { bytes, headersEnd: bytes.length, payloadEnd: bytes.length, payloadOffset: (offset) => offset };
}

function encodeWire(answer: Answer, payload: Payload, faults: FaultSet): Wire {
  const headers = Buffer.from(encodeHead(answer, payload, faults), "utf8");
  const head = Buffer.concat([headers, Buffer.from("\r\n")]);
  const headersEnd = headers.length;
  if (!isChunked(answer)) {
    const bytes = Buffer.concat([head, payload.bytes]);
    return { bytes, headersEnd, payloadEnd: bytes.length, payloadOffset: (offset) => head.length + offset };
  }
  const pieces: Uint8Array[] = [head];
  const starts: { readonly offset: number; readonly at: number }[] = [];
  let length = head.length;
  let offset = 0;
  for (const end of faults.chunkEnds(payload)) {
    if (end <= offset) continue;
    const size = Buffer.from(`${(end - offset).toString(16)}\r\n`);
    starts.push({ offset, at: length + size.length });
    pieces.push(size, payload.bytes.subarray(offset, end), Buffer.from("\r\n"));
    length += size.length + (end - offset) + 2;
    offset = end;
  }
  pieces.push(Buffer.from("0\r\n\r\n"));
  const payloadOffset = (wanted: number): number => {
    const chunk = starts.findLast((start) => start.offset < wanted) ?? starts[0];
    if (chunk === undefined) return head.length;
    const at = chunk.at + wanted - chunk.offset;
    // Behind the end of a chunk stands its line end: a pause there lets the reader have the chunk whole.
    return starts.some((start) => start.offset === wanted && wanted > 0) || wanted === payload.bytes.length
      ? at + 2
      : at;
  };
  return { bytes: Buffer.concat(pieces), headersEnd, payloadEnd: length, payloadOffset };
}

function encodeHead(answer: Answer, payload: Payload, faults: FaultSet): string {
  const { flood } = faults;
  const lines: [string, string][] = [];
  if (answer.type !== undefined) lines.push(["Content-Type", answer.type]);
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of typeof value === "string" ? [value] : value) lines.push([name, each]);
  }
  if (faults.has("compress")) lines.push(["Content-Encoding", "gzip"]);
  if (isChunked(answer)) {
    lines.push(["Transfer-Encoding", "chunked"]);
  } else if (answer.framing === "close") {
    lines.push(["Connection", "close"]);
  } else if (!BODILESS.has(answer.status)) {
    const more = flood?.of === "body" ? flood.maxBytes + 1 : Number(faults.has("keep_open"));
    lines.push(["Content-Length", String(payload.bytes.length + more)]);
  }
  return `${statusLine(answer.status)}${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}`;
}

function isChunked({ framing, body }: Answer): boolean {
  return framing === "chunked" && body.kind !== "raw";
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
}

function locatePlace(place: Place, wire: Wire, payload: Payload): number {
  if (typeof place === "number") return within(place, wire.bytes.length, "bytes");
  return wire.payloadOffset(payloadPlace(place, payload));
}

function payloadPlace(place: Exclude<Place, number>, payload: Payload): number {
  if ("body" in place) return within(place.body, payload.bytes.length, "bytes of the body");
  const { eventEnds } = payload;
  const count = within(place.event, eventEnds.length, "events");
  return count === 0 ? 0 : (eventEnds[count - 1] ?? 0);
}

function within(place: number, length: number, what: string): number {
  const at = place < 0 ? length + place : place;
  return Number.isInteger(at) && at >= 0 && at <= length
    ? at
    : refuse("at", `the answer has ${String(length)} ${what}`);
}

function dripMarkers(drip: FaultOf<"drip"> | undefined, end: number): Marker[] {
  if (drip === undefined) return [];
  if (!(drip.bytes >= 1)) refuse("bytes", "a drip is at least one byte");
  const markers: Marker[] = [];
  for (let at = drip.bytes; at < end; at += drip.bytes) {
    markers.push({ at, step: { kind: "pause", ms: drip.everyMs } });
  }
  return markers;
}

function floodMarkers(flood: FaultOf<"flood"> | undefined, at: number, answer: Answer): Marker[] {
  if (flood === undefined) return [];
  const { of, everyMs, maxBytes } = flood;
  const bytes = Buffer.from(flood.piece);
  const piece = of === "body" && isChunked(answer) ? toChunk(bytes) : bytes;
  return [{ at, step: { kind: "flood", piece, everyMs, maxBytes } }];
}

function feedMarkers(answer: Answer, end: number, isOpen: boolean): Marker[] {
  if (answer.body.kind !== "feed") return [];
  const feed: Marker = { at: end, step: { kind: "feed", feed: answer.body.feed, isChunked: isChunked(answer) } };
  if (isOpen || !isChunked(answer)) return [feed];
  return [feed, { at: end, step: { kind: "write", bytes: Buffer.from("0\r\n\r\n") } }];
}

/** Bytes as one chunk of a chunked body. */
export function toChunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** The bytes, with each marker's step at its place. */
function interleave(bytes: Uint8Array, markers: readonly Marker[]): readonly Step[] {
  const steps: Step[] = [];
  let done = 0;
  const writeTo = (at: number): void => {
    if (at > done) steps.push({ kind: "write", bytes: bytes.subarray(done, at) });
    done = Math.max(done, at);
  };
  for (const { at, step } of markers.toSorted((a, b) => a.at - b.at)) {
    writeTo(Math.min(at, bytes.length));
    steps.push(step);
  }
  writeTo(bytes.length);
  return steps;
}

function refuse(argument: string, reason: string): never {
  throw new RemoteConnectorError("invalid_argument", {
    message: `The answer can't be given: ${argument}: ${reason}.`,
    details: { argument, reason },
  });
}
