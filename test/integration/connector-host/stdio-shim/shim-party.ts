import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openAgentServer } from "../../../../src/connector-host/agent-socket/index.js";
import type { ServeStdioOptions } from "../../../../src/connector-host/stdio-shim/index.js";
import {
  createLocalServer,
  type LocalServer,
  type LocalServerOptions,
} from "../../../../src/connector-host/local-server/index.js";
import { Opened } from "../../../support/opened.js";
import { FixedDirectory } from "../local-server/fixed-directory.js";
import { LineAgent } from "./line-agent.js";

/** A local server behind an agent socket, as a host opens it. */
export interface Served {
  readonly server: LocalServer;
  /** Ends it as a host that is closed does. */
  close(): Promise<void>;
}

/** A state directory, the hosts that had it, and the agents of one test. */
export class ShimParty {
  readonly opened = new Opened();
  readonly directory = new FixedDirectory();
  readonly stateDirectory: string;

  private constructor(stateDirectory: string) {
    this.stateDirectory = stateDirectory;
  }

  static async begin(): Promise<ShimParty> {
    const stateDirectory = await mkdtemp(join(tmpdir(), "shim-"));
    const party = new ShimParty(stateDirectory);
    party.opened.push({ close: () => rm(stateDirectory, { recursive: true, force: true }) });
    return party;
  }

  get socketPath(): string {
    return join(this.stateDirectory, "agent.sock");
  }

  /** Serves the directory to the binding `desk`. */
  async serve(options: Partial<LocalServerOptions> = {}): Promise<Served> {
    const { directory, stateDirectory } = this;
    const onFault = (error: unknown): void => {
      throw error;
    };
    const server = await createLocalServer({ directory, closeTimeoutMs: 500, ...options });
    await server.bindDurable({ name: "desk" });
    const socket = await openAgentServer({ stateDirectory, agents: server, onFault });
    const served: Served = {
      server,
      close: async () => {
        await Promise.all([socket.close(), server.close()]);
      },
    };
    this.opened.push(served);
    return served;
  }

  /** Answers in place of a host, request by request, each of which has come whole. */
  async answer(
    run: (asked: { readonly request: IncomingMessage; readonly body: string }, response: ServerResponse) => void,
    { backlog = 511 }: { backlog?: number } = {},
  ): Promise<Server> {
    const server = createServer(
      (request, response) => void text(request).then((body) => run({ request, body }, response)),
    );
    server.listen({ path: this.socketPath, backlog });
    await once(server, "listening");
    this.opened.push({
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    });
    return server;
  }

  /** An agent that reads what it is written. */
  agent(options: Partial<ServeStdioOptions> = {}): LineAgent {
    const agent = new LineAgent({ stateDirectory: this.stateDirectory, ...options }).listen();
    this.opened.push({ close: () => agent.leave() });
    return agent;
  }
}
