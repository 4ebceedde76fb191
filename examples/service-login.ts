/**
 * A service without a person signs in with credentials of its own, and calls a server: `node service-login.js URL`. `CLIENT_ID` and
 * `CLIENT_SECRET` are those of its registration.
 */
import { connect, isRemoteConnectorError } from "remote-connector";
import { createOAuth } from "remote-connector/oauth";

const [endpoint = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);
const { CLIENT_ID: clientId = "", CLIENT_SECRET: clientSecret = "" } = process.env;

const oauth = createOAuth({
  clientName: "Example service",
  identity: { preRegistered: [{ clientId, clientSecret }], registers: false },
  grant: { kind: "client_credentials" },
});

try {
  const client = await connect({
    endpoint,
    clientInfo: { name: "example-service-login", version: "1.0.0" },
    authorize: oauth,
  });
  const { tools } = await client.listAllTools();
  console.log(tools.map(({ name }) => name).join(", "));
  await client.close();
} catch (error) {
  if (!isRemoteConnectorError(error, "oauth_refused")) throw error;
  // The authorization server's own word, such as invalid_client.
  console.error(error.details.issuer, error.details.errorCode);
  process.exitCode = 1;
} finally {
  await oauth.close();
}
