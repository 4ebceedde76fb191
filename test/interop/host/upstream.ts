import { startPrinting } from "../start-server.js";

/** A server behind the host. Its slug is the namespace of its names, and is in the URI of its resource. */
export interface Upstream {
  readonly slug: string;
  /** The package that it is made of. */
  readonly server: "server" | "sdk";
  readonly program: string;
  readonly mode: string;
  readonly transport: "HTTP" | "stdio";
}

const BOTH_ERAS = "build/test/programs/interop-server.js";
const SDK = "build/test/programs/interop-sdk-server.js";

export const UPSTREAMS: readonly Upstream[] = [
  { slug: "modern-http", server: "server", program: BOTH_ERAS, mode: "http", transport: "HTTP" },
  { slug: "modern-stdio", server: "server", program: BOTH_ERAS, mode: "stdio", transport: "stdio" },
  { slug: "legacy-http", server: "sdk", program: SDK, mode: "sessions", transport: "HTTP" },
  { slug: "legacy-stdio", server: "sdk", program: SDK, mode: "stdio", transport: "stdio" },
];

/** The URI of its resource. */
export function noteOf({ slug }: Upstream): string {
  return `demo://${slug}/note`;
}

/** What the host is told of servers, and the end of those that were started for it. */
export interface Declared {
  readonly registrations: readonly object[];
  readonly stdio: readonly object[];
  stop(): Promise<void>;
}

const CAPABILITIES = ["tools", "resources", "prompts"];

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
      const { slug, program, mode, transport } = upstream;
      const args = [program, mode, noteOf(upstream)];
      if (transport === "stdio") {
        stdio.push({ key: slug, displayName: slug, command: process.execPath, args, capabilities: CAPABILITIES });
        continue;
      }
      const server = await startPrinting(args);
      stops.push(() => server.stop());
      const settings = { endpoint: server.url };
      registrations.push({ slug, displayName: slug, settings, capabilities: CAPABILITIES });
    }
    return { registrations, stdio, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
