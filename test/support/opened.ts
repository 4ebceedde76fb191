import { type RawAnswerer, RawServer } from "./raw-server.js";

interface Closable {
  close(): unknown;
}

/** What the tests of one file have opened. The file says when all of it is closed: `afterEach(opened.close)`. */
export class Opened {
  readonly #all: Closable[] = [];

  push(one: Closable): void {
    this.#all.push(one);
  }

  /** A server that is closed with the rest. */
  readonly serve = async (answer: RawAnswerer): Promise<RawServer> => {
    const server = await RawServer.start(answer);
    this.push(server);
    return server;
  };

  /** The newest first: clients before the servers that they talk to. */
  readonly close = async (): Promise<void> => {
    for (const one of this.#all.splice(0).toReversed()) await one.close();
  };
}
