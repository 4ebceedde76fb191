import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModernStreamableHTTPClient } from "remote-connector/modern-client";
import { textOf } from "../support/contenders.js";
import { type Child, startChild } from "./child.js";

/** One way to the server: the same client each time, and something in the middle or not. */
export interface Path {
  readonly name: string;
  /** The process in the middle; of a direct path, the server's own. */
  readonly process: Child;
  /** Answers with the text that it sent, or the run is void. */
  call(text: string): Promise<string>;
  close(): Promise<void>;
}

/** What is in the middle, by the word that the program `middle` has for it. */
export type MiddleKind = "last_list" | "journaled" | "reread" | "official" | "bare";

const NAMES: Readonly<Record<MiddleKind, string>> = {
  last_list: "local server",
  journaled: "local server, with the journal",
  reread: "local server, contract re-read",
  official: "official server and client",
  bare: "bare hop",
};

/** Straight to the server, which `upstream` is. */
export function directPath(origin: string, upstream: Child): Path {
  const reached = { url: `${origin}/mcp`, headers: {}, tool: "echo" };
  return { ...pathTo(reached), name: "direct", process: upstream };
}

/** Over something in the middle, which is started for it and ends with it. */
export async function pathOver(kind: MiddleKind, origin: string): Promise<Path> {
  const state = await mkdtemp(join(tmpdir(), "bench-host-"));
  const middle = await startChild(new URL("./middle.js", import.meta.url), [kind, origin, state]);
  const path = pathTo(reachedBy(middle.hello));
  return {
    ...path,
    name: NAMES[kind],
    process: middle,
    async close() {
      await path.close();
      await middle.stop();
      await rm(state, { recursive: true, force: true });
    },
  };
}

interface Reached {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: string;
}

function pathTo({ url, headers, tool }: Reached): Pick<Path, "call" | "close"> {
  const client = new ModernStreamableHTTPClient({
    endpoint: url,
    headers,
    clientInfo: { name: "bench", version: "1" },
  });
  return {
    async call(text) {
      const { content } = await client.callTool({ name: tool, arguments: { text } });
      return textOf(content);
    },
    close: () => client.close(),
  };
}

function reachedBy(hello: unknown): Reached {
  const { url, headers, tool }: Reached = Object(hello);
  return { url, headers, tool };
}
