/**
 * A host for agents that spawn shims: `shim-host STATE_DIRECTORY GATEWAY RELEASES`. Signs `ada` in, makes the durable binding
 * `desk`, says `ready`, and ends when it is told to. When another host has the directory it ends at once.
 */
import { openConnectorHost } from "remote-connector/connector-host";

const [stateDirectory = "", baseUrl = "", releases = "[]"] = process.argv.slice(2);
const parsed: readonly unknown[] = JSON.parse(releases);
const host = await openConnectorHost({
  stateDirectory,
  baseUrl,
  releases: parsed,
  accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
  hostInfo: { name: "shim-host", version: "1.0.0" },
  hintsUrl: false,
});
if (host.durableBindings().length === 0) await host.bindDurable({ name: "desk", accountId: "ada" });
const published = new Promise<void>((resolve) => void host.onPublication(() => resolve()));
host.signIn("ada");
await published;
console.log("ready");
process.once("SIGTERM", () => void host.close().then(() => process.exit(0)));
