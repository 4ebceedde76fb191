import { once } from "node:events";
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";

/** Where agents are sent that know of no bearer. */
export interface BearerProxy {
  readonly url: string;
  close(): void;
}

/**
 * A proxy that adds the agent's headers to every request, since the suite can't send any. Everything else passes as it is, `Host` and
 * `Origin` too: judging those is the server's business.
 */
export async function startBearerProxy(
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<BearerProxy> {
  const agent = new Agent({ keepAlive: true });
  const proxy = createServer((request, response) => passOn(request, response, { target, headers, agent }));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://localhost:${String(port)}${new URL(target).pathname}`,
    close() {
      proxy.close();
      proxy.closeAllConnections();
      agent.destroy();
    },
  };
}

interface Passing {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
}

function passOn(request: IncomingMessage, response: ServerResponse, { target, headers, agent }: Passing): void {
  const { hostname, port } = new URL(target);
  const passed = send(
    {
      hostname,
      port,
      agent,
      method: request.method,
      path: request.url,
      headers: { ...request.headers, ...headers },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on("error", () => response.destroy());
  // Who leaves here has left there.
  response.on("close", () => passed.destroy());
  request.pipe(passed);
}
