import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { importServers, openConnectorHost } from "../../../src/connector-host/index.js";
import { likeModernServer } from "../../../src/testing/index.js";
import { ChangingServer } from "../connect/parties.js";
import { becomes } from "./host-parties.js";

const PROGRAM = fileURLToPath(new URL("../../../build/test/programs/restless-stdio-server.js", import.meta.url));

it("H-3 H-8 H-2: what another program's file says of servers is imported, registered, started and reached with its credential", async () => {
  const upstream = await ChangingServer.start(likeModernServer({ tools: [{ name: "echo" }] }));
  const file = `{
    // As other programs have it.
    "mcpServers": {
      "docs": { "url": ${JSON.stringify(upstream.url)}, "headers": { "Authorization": "Bearer s3cret" } },
      "files": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(PROGRAM)}, "{}"], "env": { "API_KEY": "k3y" } },
    }
  }`;
  const result = await importServers(file);
  if (result.kind === "refused") throw new Error(JSON.stringify(result.refusals));
  const secrets = new Map(result.secrets.map((secret) => [secret.name, secret.reveal()]));
  // A program is what the host's own configuration says of it: it is made active there.
  const programs = result.servers.flatMap((server) => (server.kind === "stdio" ? [server.connector] : []));
  const host = await openConnectorHost({
    hostInfo: { name: "test", version: "1.0.0" },
    secrets: { read: (name) => secrets.get(name) },
    stdio: programs.map((program) => ({ ...program, state: "active" })),
  });
  onTestFinished(() => host.close());
  for (const server of result.servers) {
    if (server.kind !== "registration") continue;
    const { slug } = await host.connectors.registrations.create(server.request);
    await host.connectors.registrations.setState(slug, "active");
  }
  await becomes(host, { files: "ready", docs: "ready" });
  expect(new Set(upstream.requests.map((request) => request.header("Authorization")))).toEqual(
    new Set(["Bearer s3cret"]),
  );
});
