import { onTestFinished } from "vitest";
import {
  type BoundAgent,
  createLocalServer,
  type LocalServer,
  type LocalServerOptions,
} from "../../../../src/connector-host/local-server/index.js";
import { FixedDirectory } from "./fixed-directory.js";

export interface Started {
  readonly server: LocalServer;
  readonly directory: FixedDirectory;
  readonly agent: BoundAgent;
  /** What was reported as a defect. */
  readonly faults: unknown[];
}

/** A running local server with one bound agent; it is closed with the test. */
export async function start(
  prepare: (directory: FixedDirectory) => unknown = () => undefined,
  options: Partial<LocalServerOptions> = {},
): Promise<Started> {
  const directory = new FixedDirectory();
  prepare(directory);
  const faults: unknown[] = [];
  const onFault = (error: unknown): unknown => faults.push(error);
  const server = await createLocalServer({ directory, onFault, closeTimeoutMs: 500, ...options });
  onTestFinished(() => server.close());
  return { server, directory, agent: server.bind({ workspaceId: "w", agentSessionId: "s" }), faults };
}

/** A promise that a test resolves by hand. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
