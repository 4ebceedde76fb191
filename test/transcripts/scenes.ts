import type { Revision } from "remote-connector/protocol";
import { programOf } from "../interop/installed.js";
import { type HttpServer, startOnPort, startPrinting } from "../interop/start-server.js";
import type { Script } from "./conversation.js";

/** A conversation that is recorded, and the name of its file. */
export type Scene = {
  readonly file: string;
  /** The package. */
  readonly server: string;
  readonly told: Revision | null;
  readonly script: Script;
} & (
  | { readonly over: "http" | "sse"; readonly start: () => Promise<HttpServer> }
  /** What Node runs. */
  | { readonly over: "stdio"; readonly args: readonly string[] }
);

const SDK = "build/test/programs/interop-sdk-server.js";
const BOTH_ERAS = "build/test/programs/interop-server.js";

const OWN: Script = { long: { name: "count", arguments: { to: 2 } }, wrong: { name: "no-such-tool" } };
const OWN_ASKING: Script = { ...OWN, asking: { name: "ask" } };
/** Where answers are one JSON message each. */
const OWN_SHORT: Script = { ...OWN, long: { name: "echo", arguments: { text: "otters, ö and 😀" } } };
const EVERYTHING: Script = {
  long: { name: "trigger-long-running-operation", arguments: { duration: 0.1, steps: 2 } },
  wrong: { name: "no-such-tool" },
};

export const SCENES: readonly Scene[] = [
  stdio("sdk", null, [SDK, "stdio"], OWN_ASKING),
  stdio("sdk", "2024-11-05", [SDK, "stdio"], OWN),
  http("sdk", "http-sessions", null, () => startPrinting([SDK, "sessions"]), OWN_ASKING),
  http("sdk", "http-json", "2025-06-18", () => startPrinting([SDK, "json"]), OWN_SHORT),
  http("sdk", "http-stateless", "2025-03-26", () => startPrinting([SDK, "stateless"]), OWN),
  sse("sdk", () => startPrinting([SDK, "sse"]), OWN),
  stdio("server", null, [BOTH_ERAS, "stdio"], OWN_ASKING),
  stdio("server", "2025-11-25", [BOTH_ERAS, "stdio"], OWN),
  http("server", "http", null, () => startPrinting([BOTH_ERAS, "http"]), OWN_ASKING),
  http("server", "http", "2025-11-25", () => startPrinting([BOTH_ERAS, "http"]), OWN),
  http("server", "http-sessions", "2025-06-18", () => startPrinting([BOTH_ERAS, "sessions"]), OWN_ASKING),
  stdio("server-everything", null, [programOf("server-everything")], EVERYTHING),
  http("server-everything", "http-sessions", null, () => everything("streamableHttp", "/mcp"), EVERYTHING),
  sse("server-everything", () => everything("sse", "/sse"), EVERYTHING),
];

function everything(transport: string, path: string): Promise<HttpServer> {
  return startOnPort([programOf("server-everything"), transport], path);
}

function stdio(server: string, told: Revision | null, args: readonly string[], script: Script): Scene {
  return { over: "stdio", server, told, args, script, file: `${server}-stdio-${told ?? "auto"}.json` };
}

function http(
  server: string,
  how: string,
  told: Revision | null,
  start: () => Promise<HttpServer>,
  script: Script,
): Scene {
  return { over: "http", server, told, start, script, file: `${server}-${how}-${told ?? "auto"}.json` };
}

function sse(server: string, start: () => Promise<HttpServer>, script: Script): Scene {
  const told = "2024-11-05";
  return { over: "sse", server, told, start, script, file: `${server}-sse-${told}.json` };
}
