/** A place in a stream of a session. */
export interface EventPlace {
  /** The session's public mark. It is no secret, and not its id. */
  readonly tag: string;
  /** Which of the session's streams. */
  readonly stream: number;
  readonly position: number;
}

/** The id of an event, unique over the streams of all sessions. Source: 2025-11-25, Transports, Resumability and Redelivery. */
export function encodeEventId({ tag, stream, position }: EventPlace): string {
  return `${tag}.${String(stream)}.${String(position)}`;
}

/** The place that an id names; `undefined` for one that no session here wrote. */
export function parseEventId(id: string): EventPlace | undefined {
  const match = /^([\w-]{1,32})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/.exec(id);
  const [, tag, stream, position] = match ?? [];
  if (tag === undefined || stream === undefined || position === undefined) return undefined;
  return { tag, stream: Number(stream), position: Number(position) };
}
