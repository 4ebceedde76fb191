import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccountAuthorizer, LoginGuard } from "../../../../src/auth-projection/index.js";
import {
  createRelayServer,
  type GrantedLease,
  type LeaseRequest,
  RelayFactory,
  type RelayFactoryOptions,
  relayLogins,
  type RelayServer,
  type RelayServerOptions,
  type RemoteMcpClient,
  type RemoteMcpClientRequest,
} from "../../../../src/connector-host/index.js";
import { Opened } from "../../../support/opened.js";
import { ScriptedGateway } from "../../../support/scripted-gateway.js";

/** A desktop with one account signed in, its relay, and its gateway. */
export interface DesktopParty {
  readonly guard: LoginGuard;
  readonly relay: RelayServer;
  /** A lease on connectors at version 1.0.0, whose releases have the digests `d-` and the key. */
  readonly lease: (keys?: readonly string[], changes?: Partial<LeaseRequest>) => GrantedLease;
}

export type Carrier = "TCP" | "a Unix socket";

export const CARRIERS: readonly Carrier[] = process.platform === "win32" ? ["TCP"] : ["TCP", "a Unix socket"];

/** What the tests of one file have opened of the relay. */
export class RelayParties {
  readonly opened = new Opened();

  async gateway(): Promise<ScriptedGateway> {
    const gateway = await ScriptedGateway.start();
    this.opened.push(gateway);
    return gateway;
  }

  async folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "relay-"));
    this.opened.push({ close: () => rm(path, { recursive: true, force: true }) });
    return path;
  }

  async desktop(
    gateway: { readonly url: string },
    carrier: Carrier = "TCP",
    options: Partial<RelayServerOptions> = {},
    accounts: AccountAuthorizer = { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
  ): Promise<DesktopParty> {
    const guard = new LoginGuard(accounts);
    guard.signIn("acc-1");
    const place: Pick<RelayServerOptions, "listen"> =
      carrier === "TCP" ? {} : { listen: { socketPath: join(await this.folder(), "relay.sock") } };
    const relay = await createRelayServer({ baseUrl: gateway.url, logins: relayLogins(guard), ...place, ...options });
    this.opened.push(relay);
    const lease = (keys: readonly string[] = ["docs"], changes: Partial<LeaseRequest> = {}): GrantedLease =>
      relay.grant({
        accountId: "acc-1",
        connectors: keys.map((connectorKey) => ({
          connectorKey,
          releaseDigest: `d-${connectorKey}`,
          version: "1.0.0",
        })),
        ...changes,
      });
    return { guard, relay, lease };
  }

  /** A client of a guest. */
  guest(
    relay: RelayFactoryOptions["relay"],
    bearer: RelayFactoryOptions["bearer"],
    request: Partial<RemoteMcpClientRequest> = {},
    options: Partial<RelayFactoryOptions> = {},
  ): RemoteMcpClient {
    const factory = new RelayFactory({ relay, bearer, clientInfo: { name: "guest", version: "1" }, ...options });
    const client = factory.create({ ...requestFor("docs"), ...request });
    this.opened.push(client);
    return client;
  }
}

export function requestFor(connectorKey: string): RemoteMcpClientRequest {
  return {
    operationId: "op",
    connectionId: "c",
    connectorKey,
    accountId: "acc-1",
    releaseDigest: `d-${connectorKey}`,
    version: "1.0.0",
    generation: 1,
    binding: {
      protocolVersion: "2026-07-28",
      bindingRef: "docs.primary",
      contractVersion: 1,
      bindingContractHash: `sha256:${"0".repeat(64)}`,
    },
  };
}

/** A call whose contract is known, so that it is one request. */
export const CALL = [{ name: "echo", arguments: { a: 1 } }, { contract: { parameters: [] } }] as const;
