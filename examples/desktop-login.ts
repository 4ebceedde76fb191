/**
 * A person signs in to a server in their browser, and calls it: `node desktop-login.js URL [account]`. The next run finds the tokens, which
 * are kept sealed.
 */
import { connect } from "remote-connector";
import { createOAuth, openVaultKey, sealedStore } from "remote-connector/oauth";
import { openSharedStore } from "remote-connector/store";

const [endpoint = "http://127.0.0.1:3000/mcp", account = ""] = process.argv.slice(2);
const directory = process.env["STATE_DIRECTORY"] ?? "state";

const shared = await openSharedStore({ directory });
const key = await openVaultKey({ directory, service: "remote-connector example" });
const oauth = createOAuth({ clientName: "Example", store: sealedStore(shared, key) });

// This line turns it on: when the server asks, the browser opens.
const client = await connect({
  endpoint,
  clientInfo: { name: "example-desktop-login", version: "1.0.0" },
  authorize: oauth.account(account),
  // A person has to find their password first.
  lifecycleTimeoutMs: 300_000,
});
const { tools } = await client.listAllTools();
console.log(tools.map(({ name }) => name).join(", "));

for (const { issuer, scopes } of await oauth.accounts(endpoint)) {
  console.log(`signed in at ${issuer}${scopes.length === 0 ? "" : ` for ${scopes.join(" ")}`}`);
}
await client.close();
await oauth.close();
key.close();
await shared.close();
