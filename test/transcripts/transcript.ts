import type { Revision } from "remote-connector/protocol";

/** A whole conversation of this package's client with a real server, as a file of this folder has it. */
export type Transcript = HttpTranscript | StdioTranscript;

interface Conversation {
  /** Package and version of the server. */
  readonly server: string;
  /** The one revision that the client may speak; `null` when it finds the era itself. */
  readonly told: Revision | null;
  /** What the caller of the client saw. */
  readonly outcomes: readonly unknown[];
}

export interface HttpTranscript extends Conversation {
  readonly over: "http" | "sse";
  readonly path: string;
  /** In the order in which they began. */
  readonly exchanges: readonly Exchange[];
}

export interface StdioTranscript extends Conversation {
  readonly over: "stdio";
  /** One list for each process that the client started. */
  readonly processes: readonly (readonly Line[])[];
}

export interface Exchange {
  readonly request: ClientRequest;
  /** The server's bytes, piece by piece. */
  readonly answer: readonly Piece[];
  /** Whether the server closed the connection behind it. */
  readonly isClosed: boolean;
}

/** What of a request matters. */
export interface ClientRequest {
  readonly verb: string;
  readonly target: string;
  /** Those of {@link MATTERS}, by their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON; `null` for a request without a body. */
  readonly body: unknown;
}

/** Bytes that came when so many exchanges had begun: text, cut behind each line end. */
export interface Piece {
  readonly after: number;
  readonly text: readonly string[];
}

/** What of a client is a message, what of a server the line as it was. */
export type Line = { readonly client: unknown } | { readonly server: string };

/** Which headers of a request are compared: what MCP says of them, or what an answer depends on. */
const MATTERS = /^(?:accept|authorization|content-type|last-event-id|mcp-.*)$/;

/** A request as it is compared. */
export function clientRequest(
  verb: string,
  target: string,
  headers: Iterable<readonly [name: string, value: string]>,
  body: string,
): ClientRequest {
  const kept = [...headers]
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => MATTERS.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const message: unknown = body === "" ? null : JSON.parse(body);
  return { verb, target, headers: Object.fromEntries(kept), body: message };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const HTTP_DATE = /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g;
const ISO_DATE = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * Puts placeholders for what differs from run to run: ids and dates. Each is as long as what it stands for, so that lengths
 * in headers and chunks stay true; an id that comes again gets the same one.
 */
export function withPlaceholders(transcript: Transcript): Transcript {
  const ids: string[] = [];
  const text = JSON.stringify(transcript)
    .replaceAll(UUID, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `00000000-0000-4000-8000-${String(ids.indexOf(id) + 1).padStart(12, "0")}`;
    })
    .replaceAll(HTTP_DATE, "Thu, 01 Jan 2026 00:00:00 GMT")
    .replaceAll(ISO_DATE, "2026-01-01T00:00:00.000Z");
  return JSON.parse(text);
}
