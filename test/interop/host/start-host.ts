import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectorHost, openConnectorHost } from "remote-connector/connector-host";
import { whenReady } from "../when-ready.js";
import type { Access } from "./agent.js";
import { declareUpstreams, type Upstream } from "./upstream.js";

/** A host in front of some servers, with nobody signed in. */
export interface InteropHost {
  readonly access: Access;
  stop(): Promise<void>;
}

/** Nothing listens there: the connectors of an account are not what this is about. */
const NO_GATEWAY = "http://127.0.0.1:9";
const BINDING = "interop";

/** Starts the servers and the host. Resolves when all of them are published. */
export async function startInteropHost(upstreams: readonly Upstream[]): Promise<InteropHost> {
  const declared = await declareUpstreams(upstreams);
  const stateDirectory = await mkdtemp(join(tmpdir(), "interop-host-"));
  let host: ConnectorHost | undefined;
  const stop = async (): Promise<void> => {
    await host?.close();
    await declared.stop();
    await rm(stateDirectory, { recursive: true, force: true });
  };
  try {
    host = await openConnectorHost({
      baseUrl: NO_GATEWAY,
      hintsUrl: false,
      releases: [],
      registrations: declared.registrations,
      stdio: declared.stdio,
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "interop", version: "1.0.0" },
      stateDirectory,
    });
    await whenReady(host, { count: declared.registrations.length + declared.stdio.length });
    const { url, headers } = host.bind({ workspaceId: "interop", agentSessionId: "agents" });
    await host.bindDurable({ name: BINDING });
    const program = "build/test/programs/interop-shim.js";
    const stdio = { command: process.execPath, args: [program, stateDirectory, BINDING] };
    return { access: { http: { url, headers }, stdio }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
