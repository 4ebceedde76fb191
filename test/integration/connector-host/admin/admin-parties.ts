import { request } from "node:http";
import { expect } from "vitest";
import {
  type ConnectorHost,
  connectToHost,
  type HostConnection,
  openConnectorHost,
  type OpenConnectorHostOptions,
} from "../../../../src/connector-host/index.js";
import { releaseOf } from "../../../support/releases.js";
import type { HostParties } from "../host-parties.js";
import { offering } from "../permission-parties.js";
import type { ScriptedGateway } from "../../../support/scripted-gateway.js";

export interface AdminParty {
  readonly directory: string;
  readonly gateway: ScriptedGateway;
  readonly host: ConnectorHost;
}

/** A host with a state directory, one release with the tools `drop` and `read`, and an account that is signed in. */
export async function adminHost(
  parties: HostParties,
  options: Partial<OpenConnectorHostOptions> = {},
): Promise<AdminParty> {
  const gateway = await parties.gateway({ a: 1 });
  offering(gateway, "a", { tools: { drop: { title: "Drop it", description: "Drops." }, read: {} } });
  const directory = await parties.folder();
  const host = await openConnectorHost({
    baseUrl: gateway.url,
    releases: [releaseOf("a")],
    accounts: { authorize: () => ({}) },
    hostInfo: { name: "desk", version: "1.0.0" },
    hintsUrl: false,
    stateDirectory: directory,
    agentSocket: false,
    ...options,
  });
  parties.opened.push(host);
  host.signIn("ada");
  const stateOf = async () => (await host.status()).find(({ connectorKey }) => connectorKey === "a")?.state;
  await expect.poll(stateOf, { timeout: 10_000, interval: 10 }).toBe("ready");
  return { directory, gateway, host };
}

/** Another process's connection, whose person answers with `decide`; the questions that they were asked. */
export async function reach(
  parties: HostParties,
  directory: string,
  decide: (question: string) => boolean = () => true,
) {
  const questions: string[] = [];
  const connection: HostConnection = await connectToHost({
    stateDirectory: directory,
    async confirm(question) {
      questions.push(question);
      return decide(question);
    },
  });
  parties.opened.push(connection);
  return { admin: connection.admin, connection, questions };
}

export interface RawAsk {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** A request of a program that is not ours, over a socket's path or to a URL. */
export function ask(
  to: { socketPath: string; path: string } | URL,
  { method = "GET", headers = {}, body = "" }: RawAsk,
) {
  const place =
    to instanceof URL
      ? { host: to.hostname, port: Number(to.port), path: to.pathname + to.search }
      : { socketPath: to.socketPath, path: to.path };
  return new Promise<RawAnswer>((resolve, reject) => {
    const sent = request({ ...place, method, headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
