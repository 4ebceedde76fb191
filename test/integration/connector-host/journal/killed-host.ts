import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JournaledRequest } from "../../../../src/connector-host/index.js";
import { isJsonObject } from "../../../../src/protocol/index.js";
import { likeModernServer, ScriptedServer } from "../../../../src/testing/index.js";
import { RawAgent } from "../../../support/agent.js";

const PROGRAM = fileURLToPath(new URL("../../../../build/test/programs/journal-host.js", import.meta.url));

/** A server that notes every call that it gets, by the id in its arguments, before it answers. */
export async function startNotingServer(answer: (id: string) => Promise<void>) {
  const calls: string[] = [];
  const server = await ScriptedServer.start(
    likeModernServer({
      tools: [
        {
          name: "note",
          async run(_, { params }) {
            const id = idIn(params["arguments"]);
            calls.push(id);
            await answer(id);
            return { content: [{ type: "text", text: id }] };
          },
        },
      ],
    }),
  );
  return { url: server.url, calls, close: () => server.close() };
}

/** A host in a process of its own, from its start to its end by force. */
export interface LivingHost {
  /** What its journal has of earlier lives and what they did not tell of yet, the latest first. */
  readonly rows: readonly JournaledRequest[];
  /** Of them, the ids of those that were unknown when it started. */
  readonly unknowns: readonly string[];
  /** Calls the tool; whether it was answered with a result. Never rejects. */
  call(id: string): Promise<boolean>;
  kill(): Promise<void>;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
}

/** `after`: the id of the latest row that is known. */
export async function startHost(
  directory: string,
  endpoint: string,
  after: string,
  crash: string = "",
): Promise<LivingHost> {
  const child = spawn(process.execPath, [PROGRAM, directory, endpoint, after, crash], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const line: unknown = (await Promise.race([once(lines, "line"), ended]))[0];
  if (typeof line !== "string") throw new Error(`The host ended: ${String(line)}`);
  const said: Pick<LivingHost, "rows" | "unknowns"> & { url: string; headers: { readonly Authorization: string } } =
    JSON.parse(line);
  const agent = new RawAgent(said);
  return {
    rows: said.rows,
    unknowns: said.unknowns,
    ended,
    async call(id) {
      const answer = await agent.call("docs_note", { id }).catch(() => undefined);
      return answer?.result !== undefined;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The id in the arguments of a call, or in what the journal kept of them. */
export function idIn(args: unknown): string {
  const parsed: unknown = typeof args === "string" ? JSON.parse(args) : args;
  const id = isJsonObject(parsed) ? parsed["id"] : undefined;
  return typeof id === "string" ? id : "";
}
