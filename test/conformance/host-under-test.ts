import { type ConnectorHost, type NamingPolicy, openConnectorHost } from "remote-connector/connector-host";
import { whenReady } from "../interop/when-ready.js";
import { type BearerProxy, startBearerProxy } from "./bearer-proxy.js";

const SLUG = "upstream";
/** Nothing listens there: the connectors of an account are not what this is about. */
const NO_GATEWAY = "http://127.0.0.1:9";

/** A connector host in front of one server. */
export interface HostUnderTest {
  /** Its local server, to which no bearer need be sent. */
  readonly url: string;
  stop(): Promise<void>;
}

/** One connector, whose tools and prompts keep the names that its server gave them. */
export const UNCHANGED_NAMES: NamingPolicy = {
  namespace: () => "",
  exposedName: (_connectorKey, nativeName) => nativeName,
  parse: (exposedName) => ({ namespace: "", rest: exposedName }),
};

/** Starts a host in front of the server at `upstream`. Without `naming` the names are those that agents see otherwise. */
export async function startHost(upstream: string, naming?: NamingPolicy): Promise<HostUnderTest> {
  let host: ConnectorHost | undefined;
  let proxy: BearerProxy | undefined;
  const stop = async (): Promise<void> => {
    proxy?.close();
    await host?.close();
  };
  try {
    host = await openConnectorHost({
      baseUrl: NO_GATEWAY,
      hintsUrl: false,
      releases: [],
      registrations: [
        {
          slug: SLUG,
          displayName: "Upstream",
          settings: { endpoint: upstream },
          capabilities: ["tools", "resources", "prompts", "elicitation", "sampling", "roots"],
        },
      ],
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "conformance", version: "1.0.0" },
      naming,
    });
    await whenReady(host, { count: 1 });
    const bound = host.bind({ workspaceId: "conformance", agentSessionId: "suite" });
    proxy = await startBearerProxy(bound.url, bound.headers);
    return { url: proxy.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
