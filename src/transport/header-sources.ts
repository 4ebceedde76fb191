import { open } from "node:fs/promises";
import { RemoteConnectorError } from "../errors.js";
import { refuseOption } from "../options.js";
import type { Authorizer, AuthorizeRequest } from "./authorize.js";
import { addHeaders, type HeaderMap } from "./headers.js";

/** A header's value, asked for at each request; `undefined` leaves the header out. */
export type HeaderFunction = (request: AuthorizeRequest) => string | undefined | Promise<string | undefined>;

/**
 * Where a header's value comes from: it is given, or held by an environment variable when the client is made, or by a file
 * when a request is made (at most 64 KiB, without the line break at its end), or computed for each request.
 */
export type HeaderSource = string | { readonly env: string } | { readonly file: string } | HeaderFunction;

/** Headers by name. A {@link HeaderMap} is one. */
export type HeaderSources = Readonly<Record<string, HeaderSource>>;

export interface ResolvedHeaders {
  /** Those whose values are known. */
  readonly fixed: HeaderMap;
  /** Gives the others, and what the client's own authorizer gives, which takes their place. Absent when there is neither. */
  readonly authorizer: Authorizer | undefined;
}

/** Reads the environment; a test gives its own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads what can be read now, and checks all names.
 *
 * Throws `invalid_header` for a header that can't be sent or whose environment variable is not set, and `invalid_options`
 * for what is no source. At a request, a file that can't be read and a function that throws fail with `invalid_header`
 * (`not_sent`): a request without what was configured is never made. No value is ever shown.
 */
export function resolveHeaderSources(
  sources: HeaderSources,
  authorizer?: Authorizer,
  environment: Environment = process.env,
): ResolvedHeaders {
  // Without a prototype: a header may have any name that is a token.
  const fixed: Record<string, string> = Object.create(null);
  const later: LaterHeader[] = [];
  const names = new Set<string>();
  for (const [header, source] of Object.entries(sources)) {
    // Which of two would win could be told by nobody.
    if (names.has(header.toLowerCase())) refuse(header, "configured twice");
    names.add(header.toLowerCase());
    if (typeof source === "string") fixed[header] = source;
    else if (typeof source === "function") later.push({ header, read: (request) => source(request) });
    else if (isText(source, "env")) fixed[header] = readEnvironment(header, source.env, environment);
    else if (isText(source, "file")) later.push({ header, read: () => readValue(source.file) });
    else refuseOption(`headers.${header}`, "must be a string, a function, { env } or { file }");
  }
  addHeaders([], fixed);
  for (const { header } of later) addHeaders([], { [header]: "" });
  return { fixed, authorizer: later.length === 0 ? authorizer : withHeaders(later, authorizer) };
}

interface LaterHeader {
  readonly header: string;
  readonly read: HeaderFunction;
}

const MAX_FILE_BYTES = 64 * 1024;

function isText<K extends string>(source: unknown, key: K): source is Record<K, string> {
  if (typeof source !== "object" || source === null) return false;
  const keys = Object.keys(source);
  return keys.length === 1 && keys[0] === key && typeof Reflect.get(source, key) === "string";
}

function readEnvironment(header: string, name: string, environment: Environment): string {
  return environment[name] ?? refuse(header, `the environment variable ${name} is not set`);
}

function withHeaders(later: readonly LaterHeader[], authorizer: Authorizer | undefined): Authorizer {
  /** What the authorizer itself gave last for a request: only that is its own when it is told of a refusal. */
  const given = new WeakMap<object, HeaderMap>();
  const { onRefused, onAnswered } = authorizer ?? {};
  return {
    authorize: async (request) => {
      const headers = await headersOf(later, request);
      // What the authorizer has to say can depend on the moment: it is asked last.
      const own = await authorizer?.authorize(request);
      if (own === undefined) given.delete(request);
      else if (onRefused !== undefined) given.set(request, own);
      return { ...headers, ...own };
    },
    onRefused: onRefused && ((refusal) => onRefused.call(authorizer, { ...refusal, sent: given.get(refusal.request) })),
    onAnswered: onAnswered?.bind(authorizer),
  };
}

async function headersOf(later: readonly LaterHeader[], request: AuthorizeRequest): Promise<HeaderMap> {
  const values = await Promise.all(later.map((one) => valueOf(one, request)));
  const headers: Record<string, string> = {};
  for (const [index, { header }] of later.entries()) {
    const value = values[index];
    if (value !== undefined) headers[header] = value;
  }
  return headers;
}

async function valueOf({ header, read }: LaterHeader, request: AuthorizeRequest): Promise<string | undefined> {
  try {
    return await read(request);
  } catch (error) {
    return refuse(header, "its source failed", error);
  }
}

async function readValue(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_FILE_BYTES + 1));
    if (bytesRead > MAX_FILE_BYTES) throw new Error("The file is too large for a header.");
    return buffer.toString("latin1", 0, bytesRead).replace(/\r?\n$/, "");
  } finally {
    await file.close();
  }
}

function refuse(header: string, reason: string, cause?: unknown): never {
  throw new RemoteConnectorError("invalid_header", {
    message: `The header ${header} is refused: ${reason}.`,
    details: { header, reason },
    cause,
  });
}
