/** The provider of the fourth connector: an authorization server, and the person who consents there. */
import { AuthorizationServer } from "remote-connector/testing";

const CLIENT_ID = "first-run-gateway";

/** Starts it, with the gateway as its client. The port of a loopback address may be any. */
export function startProvider(connectorId: string): Promise<AuthorizationServer> {
  const redirectUris = [`http://127.0.0.1/v1/connector-authorizations/callback/${connectorId}`];
  return AuthorizationServer.start({ clients: [{ clientId: CLIENT_ID, redirectUris }] });
}

/** How the gateway's accounts authorize with it. */
export function authorizingAt({ issuer }: AuthorizationServer) {
  return { kind: "oauth", issuer, clientId: CLIENT_ID, scopes: ["memory"] } as const;
}

/** What a person does in a browser: opens the page, consents, and is sent back. Gives what the last page says. */
export async function consentAt(url: string): Promise<string> {
  const page = await fetch(url);
  return (await page.text()).trim();
}

/** How many of the tokens that were issued still work. */
export function activeTokens({ tokens }: AuthorizationServer): number {
  return tokens.filter(({ state }) => state === "active").length;
}
