import { once } from "node:events";
import { createServer } from "node:net";
import {
  createOAuth,
  loopbackReceiver,
  type OAuth,
  type OAuthOptions,
  type PreRegisteredClient,
} from "remote-connector/oauth";

/** A call that a scenario prescribes. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the suite tells a client of a scenario; each scenario has some of it. */
export interface ScenarioContext {
  readonly toolCalls?: readonly ToolCall[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly issuer?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
  readonly valid_jwt?: string;
}

/** What the suite knows as the client's own document. It does not have to be there. */
const METADATA_DOCUMENT = "https://conformance-test.local/client-metadata.json";

/** The authorization that a scenario asks for: the code flow through the real callback listener, but where its context has another grant. */
export async function createAuthorization(scenario: string, context: ScenarioContext): Promise<OAuth> {
  const grant = grantOf(scenario, context);
  return createOAuth({
    clientName: "remote-connector conformance",
    openUrl: visit,
    // Clients that don't register come back to where they are known for: to one port, and not to any.
    callback: loopbackReceiver({ port: await freePort() }),
    identity: { metadataDocument: METADATA_DOCUMENT, preRegistered: preRegistered(scenario, context) },
    dpop: scenario.startsWith("auth/dpop"),
    ...(grant === undefined ? {} : { grant }),
  });
}

/** A browser whose person agrees with everything: it follows redirects until the callback listener has answered. Nobody waits for it. */
function visit(url: string): void {
  void fetch(url)
    .then((page) => page.arrayBuffer())
    .catch((error: unknown) => console.error(`the browser: ${String(error)}`));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function preRegistered(scenario: string, context: ScenarioContext): readonly PreRegisteredClient[] {
  const { client_id: clientId, client_secret: clientSecret, issuer, private_key_pem: key } = context;
  if (clientId === undefined) return [];
  if (scenario === "auth/wif-jwt-bearer") return [{ clientId, authMethod: "none" }];
  const signingKey = key === undefined ? undefined : { key, algorithm: context.signing_algorithm };
  return [{ clientId, clientSecret, issuer, signingKey }];
}

function grantOf(scenario: string, context: ScenarioContext): OAuthOptions["grant"] {
  if (scenario.startsWith("auth/client-credentials-")) return { kind: "client_credentials" };
  const { idp_client_id: clientId, idp_id_token: idToken, idp_token_endpoint: tokenEndpoint, valid_jwt: jwt } = context;
  if (idToken !== undefined && tokenEndpoint !== undefined) {
    return { kind: "enterprise_managed", tokenEndpoint, clientId, idToken: () => idToken };
  }
  return jwt === undefined ? undefined : { kind: "workload_identity", assertion: () => jwt };
}
