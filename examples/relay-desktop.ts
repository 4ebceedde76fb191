import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LoginGuard } from "remote-connector/auth-projection";
import { createRelayServer, relayLogins } from "remote-connector/connector-host";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";

// Only this process has the account's session.
const logins = new LoginGuard({ authorize: ({ accountId }) => ({ Cookie: `session=of-${accountId}` }) });
logins.signIn("ada");

const relay = await createRelayServer({
  baseUrl,
  logins: relayLogins(logins),
  // The last look before a request leaves.
  admit({ connectorKey, method }) {
    console.log("desktop:", connectorKey, method);
    return undefined;
  },
});
const release = { connectorKey: "docs", releaseDigest: "digest-of-docs", version: "1.0.0" };
const { leaseId, bearer } = relay.grant({ accountId: "ada", connectors: [release], lifetimeMs: 60_000 });

// The guest is told where the relay is, and the bearer of its lease.
const guest = spawn(process.execPath, [fileURLToPath(new URL("relay-guest.js", import.meta.url))], {
  stdio: ["pipe", "inherit", "inherit", "ipc"],
  env: {},
});
guest.stdin?.end(JSON.stringify({ relay: relay.address, bearer, release }));
guest.once("message", () => {
  relay.revoke(leaseId);
  guest.send("revoked");
});
guest.once("exit", () => void relay.close());
