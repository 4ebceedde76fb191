import { programOf } from "../installed.js";
import { startPrinting } from "../start-server.js";

/** A server behind the host. Its slug is the namespace of its names, and is in the URI of its resource. */
export interface Upstream {
  readonly slug: string;
  /** The package that it is made of. */
  readonly server: "server" | "sdk" | "server-everything";
  /** What is started. */
  readonly args: readonly string[];
  readonly transport: "HTTP" | "stdio";
  /** The era in which the host speaks with it. */
  readonly era: "modern" | "legacy";
  /** What each question's tool is called, with its arguments. */
  readonly questions: Questions;
  /** Why there is nothing here to try, by trial: for what was written by others. */
  readonly lacks?: Readonly<Record<string, string>> | undefined;
}

/** A tool that asks, and its arguments. */
export interface Question {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

export type Questions = Readonly<Record<"elicit" | "visit" | "sample" | "roots", Question>>;

const BOTH_ERAS = "build/test/programs/interop-server.js";
const SDK = "build/test/programs/interop-sdk-server.js";

const OWN: Questions = {
  elicit: { tool: "ask" },
  visit: { tool: "visit" },
  sample: { tool: "sample" },
  roots: { tool: "roots" },
};

const OF_EVERYTHING: Questions = {
  elicit: { tool: "trigger-elicitation-request" },
  visit: { tool: "trigger-url-elicitation", args: { url: "https://127.0.0.1/sign-in", message: "Sign in?" } },
  sample: { tool: "trigger-sampling-request", args: { prompt: "2+2?", maxTokens: 10 } },
  roots: { tool: "get-roots-list" },
};

function own(slug: string, server: "server" | "sdk", mode: string, era: Upstream["era"]): Upstream {
  const args = [server === "server" ? BOTH_ERAS : SDK, mode, noteOf({ slug })];
  return { slug, server, args, transport: mode === "stdio" ? "stdio" : "HTTP", era, questions: OWN };
}

function elsewhere(trial: string): [string, string] {
  return [trial, "server-everything is here for its questions; `npm run interop` tries the rest of it."];
}

export const UPSTREAMS: readonly Upstream[] = [
  own("modern-http", "server", "http", "modern"),
  // A program that speaks both eras is met with the older one.
  own("both-stdio", "server", "stdio", "legacy"),
  own("both-http", "server", "sessions", "legacy"),
  own("legacy-http", "sdk", "sessions", "legacy"),
  own("legacy-stdio", "sdk", "stdio", "legacy"),
  {
    slug: "everything",
    server: "server-everything",
    args: [programOf("server-everything"), "stdio"],
    transport: "stdio",
    era: "legacy",
    questions: OF_EVERYTHING,
    lacks: Object.fromEntries(["list", "call", "progress", "cancel", "prompt", "read", "subscribe"].map(elsewhere)),
  },
];

/** The URI of its resource. */
export function noteOf({ slug }: Pick<Upstream, "slug">): string {
  return `demo://${slug}/note`;
}

/** What the host is told of servers, and the end of those that were started for it. */
export interface Declared {
  readonly registrations: readonly object[];
  readonly stdio: readonly object[];
  stop(): Promise<void>;
}

const PLAIN = ["tools", "resources", "prompts"];
const ASKING = ["tools", "elicitation", "sampling", "roots"];

/**
 * The connector whose tools ask. A program that may ask serves one call at a time, so that it is another one than that for
 * everything else.
 */
export function askingSlug({ slug, transport }: Pick<Upstream, "slug" | "transport">): string {
  return transport === "stdio" ? `${slug}-asks` : slug;
}

/** Starts those that are reached over HTTP; the host starts the others. */
export async function declareUpstreams(upstreams: readonly Upstream[]): Promise<Declared> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(stops.map((each) => each()));
  };
  const registrations: object[] = [];
  const stdio: object[] = [];
  try {
    for (const upstream of upstreams) {
      const { slug, args, transport, era: protocol } = upstream;
      if (transport === "stdio") {
        const program = { displayName: slug, command: process.execPath, args };
        if (upstream.lacks === undefined) stdio.push({ ...program, key: slug, capabilities: PLAIN });
        stdio.push({ ...program, key: askingSlug(upstream), capabilities: ASKING });
        continue;
      }
      const server = await startPrinting(args);
      stops.push(() => server.stop());
      const settings = { endpoint: server.url, protocol };
      const capabilities = [...new Set([...PLAIN, ...ASKING])];
      registrations.push({ slug, displayName: slug, settings, capabilities });
    }
    return { registrations, stdio, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
