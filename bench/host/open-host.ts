import { type ConnectorHost, type ConnectorHostOptions, openConnectorHost } from "remote-connector/connector-host";

export interface OpenHostOptions {
  /** Where `/v1/connectors/{key}/mcp` is. */
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly contracts?: ConnectorHostOptions["contracts"];
  /** Left out: nothing is kept, and requests are not written down. */
  readonly stateDirectory?: string;
}

const READY_MS = 60_000;

/** A host whose account needs no authorization, with what it publishes as it comes. */
export interface OpenedHost {
  readonly host: ConnectorHost;
  /** When each connector was first published, in milliseconds after the sign-in, in order. */
  readonly published: ReadonlyMap<string, number>;
}

/** Opens a host, signs in, and resolves when so many connectors (all when left out) are published. */
export async function openHost(options: OpenHostOptions, count = options.keys.length): Promise<OpenedHost> {
  const host = await closedHost(options);
  return { host, published: await publish(host, count) };
}

/** A host that nobody signed in to. */
export function closedHost({ baseUrl, keys, contracts, stateDirectory }: OpenHostOptions): Promise<ConnectorHost> {
  return openConnectorHost({
    baseUrl,
    releases: keys.map(releaseOf),
    accounts: { authorize: () => ({ Cookie: "session=bench" }) },
    hostInfo: { name: "bench", version: "1.0.0" },
    hintsUrl: false,
    contracts,
    stateDirectory,
    controlSocket: false,
    agentSocket: false,
  });
}

/** Signs in, and resolves when so many connectors are published. What comes later is told too. */
export function publish(host: ConnectorHost, count: number): Promise<ReadonlyMap<string, number>> {
  const published = new Map<string, number>();
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error(`${String(published.size)} of ${String(count)} connectors were published`));
    }, READY_MS);
    const startedAt = performance.now();
    host.onPublication(({ connectorKey, kind }) => {
      if (kind === "withdrawn" || published.has(connectorKey)) return;
      published.set(connectorKey, performance.now() - startedAt);
      if (published.size < count) return;
      clearTimeout(late);
      resolve(published);
    });
    host.signIn("bench");
  });
}

function releaseOf(connectorId: string): object {
  return {
    connectorId,
    version: "1.0.0",
    runtime: {
      kind: "remote_mcp",
      protocolVersion: "2026-07-28",
      bindingRef: `${connectorId}.primary`,
      contractVersion: 1,
      bindingContractHash: `sha256:${"0".repeat(64)}`,
    },
    authorization: { kind: "none" },
    requiredCapabilities: ["tools"],
    minimumHostVersion: "0.1.0",
    display: { name: connectorId },
  };
}
