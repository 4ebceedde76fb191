import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import type { GatewayOptions } from "../../../src/gateway/index.js";
import { resolveGatewayOptions } from "../../../src/gateway/resolve-options.js";

const good: GatewayOptions = {
  accounts: [{ accountId: "ada", sessions: ["secret-session"] }],
  connectors: [
    {
      connectorId: "files",
      connectorVersion: "1.0.0",
      authorization: "account",
      upstream: { kind: "stdio", command: "node" },
    },
  ],
};

function refusal(changes: object): { option: string; reason: string; suggestion?: string | undefined } | undefined {
  try {
    resolveGatewayOptions({ ...good, ...changes });
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_options")) throw error;
    expect(JSON.stringify(error)).not.toContain("secret");
    return error.details;
  }
  return undefined;
}

const connector = (changes: object): object => ({ connectors: [{ ...good.connectors[0], ...changes }] });
const http = (changes: object): object =>
  connector({ upstream: { kind: "http", url: "https://a.test/mcp", ...changes } });

const authorizing = (value: object): object =>
  connector({ authorizing: value, upstream: { kind: "http", url: "https://a.test/mcp" } });

describe("resolveGatewayOptions", () => {
  it("C-5: takes connectors that accounts authorize by themselves", () => {
    const secret = authorizing({ kind: "secret", verify: () => true });
    const issuer = { kind: "oauth", issuer: "https://issuer.test", clientId: "c", scopes: ["a:b", "c"] };
    const program = { kind: "stdio", command: "x", credentialVariable: "PROVIDER_KEY" };
    for (const changes of [secret, authorizing(issuer), connector({ authorizing: issuer, upstream: program })]) {
      expect(refusal(changes)).toBeUndefined();
    }
    const url = (publicUrl: string): unknown => resolveGatewayOptions({ ...good, publicUrl }).publicUrl;
    expect([url("https://a.test"), url("https://a.test/b/")]).toEqual(["https://a.test", "https://a.test/b"]);
  });

  it("C-5: has the contract's names and loopback when nothing is said", () => {
    const config = resolveGatewayOptions(good);
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 0,
      sessionCookie: "session",
      versionHeader: "Tutti-Connector-Version",
      versionMetaKey: "sh.tutti/connectorVersion",
      maxBodyBytes: 4 * 1024 * 1024,
      hintPingMs: 30_000,
      adminBearer: undefined,
    });
    expect([...config.connectors.keys()]).toEqual(["files"]);
  });

  it.each([
    [{ conectors: [] }, { option: "conectors", reason: "unknown", suggestion: "connectors" }],
    [{ accounts: undefined }, { option: "accounts" }],
    [{ accounts: [{ accountId: "", sessions: [] }] }, { option: "accounts.0.accountId" }],
    [{ accounts: [{ accountId: "a", sessions: ["secret; x"] }] }, { option: "accounts.0.sessions.0" }],
    [
      { accounts: [{ accountId: "a", sessions: [], session: "secret" }] },
      { option: "accounts.0.session", reason: "unknown" },
    ],
    [{ accounts: [good.accounts[0], good.accounts[0]] }, { option: "accounts" }],
    [{ accounts: [...good.accounts, { accountId: "b", sessions: ["secret-session"] }] }, { option: "accounts" }],
    [connector({ authorizing: { kind: "secret" } }), { option: "connectors" }],
    [http({ credentialHeader: "a b" }), { option: "connectors.0.upstream.credentialHeader" }],
    [http({ credentialPrefix: "secret\n" }), { option: "connectors.0.upstream.credentialPrefix" }],
    [authorizing({ kind: "secret", verify: 1 }), { option: "connectors.0.authorizing.verify" }],
    [authorizing({ kind: "oauth", clientId: "c" }), { option: "connectors.0.authorizing.issuer" }],
    [authorizing({ kind: "oauth", clientId: "c", issuer: "http://a.test" }), { option: "connectors" }],
    [
      authorizing({ kind: "oauth", clientId: "c", issuer: "https://a.test", clientSecrt: "secret" }),
      { option: "connectors.0.authorizing.clientSecrt", reason: "unknown" },
    ],
    [
      authorizing({
        kind: "oauth",
        clientId: "c",
        issuer: "https://a.test",
        endpoints: { authorization: "https://a.test/a", token: "http://a.test/t" },
      }),
      { option: "connectors" },
    ],
    [
      connector({
        authorization: "none",
        authorizing: { kind: "secret" },
        upstream: { kind: "http", url: "https://a.test" },
      }),
      { option: "connectors" },
    ],
    [{ publicUrl: "gateway.test" }, { option: "publicUrl" }],
    [{ publicUrl: "http://gateway.test" }, { option: "publicUrl" }],
    [{ publicUrl: "https://ada:secret@gateway.test" }, { option: "publicUrl" }],
    [http({ credentialHeader: "Content-Type" }), { option: "connectors" }],
    [http({ credentialHeader: "Mcp-Name" }), { option: "connectors" }],
    [
      authorizing({
        kind: "oauth",
        clientId: "c",
        issuer: "https://issuer.test",
        endpoints: { authorization: "https://issuer.test/a", token: "http://127.0.0.1/t" },
      }),
      { option: "connectors" },
    ],
    [{ publicUrl: "https://gateway.test/?x=1" }, { option: "publicUrl" }],
    [{ maxAuthorizationSessions: 0 }, { option: "maxAuthorizationSessions" }],
    [{ authorizationSessionMs: -1 }, { option: "authorizationSessionMs" }],
    [{ random: 4 }, { option: "random" }],
    [{ connectors: [good.connectors[0], good.connectors[0]] }, { option: "connectors" }],
    [connector({ connectorId: "No Key" }), { option: "connectors.0.connectorId" }],
    [connector({ connectorVersion: "1\n" }), { option: "connectors.0.connectorVersion" }],
    [connector({ authorization: "oauth" }), { option: "connectors.0.authorization" }],
    [connector({ upstream: { kind: "pipe" } }), { option: "connectors.0.upstream.kind" }],
    [connector({ upstream: { kind: "stdio" } }), { option: "connectors.0.upstream.command" }],
    [
      connector({ upstream: { kind: "stdio", command: "x", arg: [] } }),
      { option: "connectors.0.upstream.arg", reason: "unknown" },
    ],
    [http({ url: "http://a.test/mcp" }), { option: "connectors" }],
    [http({ url: "nonsense" }), { option: "connectors" }],
    [http({ headers: { "Mcp-Name": "secret" } }), { option: "connectors" }],
    [http({ headers: { Authorization: "secret\n" } }), { option: "connectors" }],
    [{ adminBearer: "short" }, { option: "adminBearer" }],
    [{ sessionCookie: "a b" }, { option: "sessionCookie" }],
    [{ versionHeader: "" }, { option: "versionHeader" }],
    [{ versionMetaKey: "io.modelcontextprotocol/x" }, { option: "versionMetaKey" }],
    [{ versionMetaKey: "-x" }, { option: "versionMetaKey" }],
    [{ maxBodyBytes: 0 }, { option: "maxBodyBytes" }],
    [{ keepAliveMs: -1 }, { option: "keepAliveMs" }],
    [{ upstreamDeadlines: { idleTimeoutMs: 0 } }, { option: "idleTimeoutMs" }],
  ])("C-5: refuses %j by name, without a secret", (changes, details) => {
    expect(refusal(changes)).toMatchObject(details);
  });

  it("C-5: takes an upstream on loopback over plain http", () => {
    expect(refusal(http({ url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer x" } }))).toBeUndefined();
  });
});
