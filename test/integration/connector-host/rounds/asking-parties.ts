import type { ConnectorHost, ConnectorHostOptions, HostStore } from "../../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../../src/store/index.js";
import { becomes, HostParties } from "../host-parties.js";
import { askingUpstreams, type Upstreams } from "./asking-upstreams.js";

const ALL = ["tools", "prompts", "elicitation", "sampling", "roots"];

export interface AskingHost {
  readonly host: ConnectorHost;
  readonly upstreams: Upstreams;
}

/** Hosts of one file's tests, with a registered server of each era that asks: `modern` and `legacy`. */
export class AskingParties extends HostParties {
  async asking(
    options: Partial<ConnectorHostOptions> = {},
    { capabilities = ALL, deadlines = {}, upstreams, store, programs = [] }: AskingSetting = {},
  ): Promise<AskingHost> {
    const servers = upstreams ?? (await askingUpstreams(this.opened));
    const registrations = ["modern", "legacy"].map((slug) => ({
      slug,
      displayName: slug,
      capabilities,
      deadlines,
      settings: { endpoint: `${servers.origin}/${slug}` },
    }));
    const nowhere = { url: "http://127.0.0.1:9" };
    const { host } = await this.host(nowhere, [], { registrations, ...options }, store ?? createMemoryStore());
    const ready = ["modern", "legacy", ...programs].map((slug) => [slug, "ready"]);
    await becomes(host, Object.fromEntries(ready));
    return { host, upstreams: servers };
  }
}

export interface AskingSetting {
  readonly capabilities?: readonly string[];
  /** Of requests to the servers. */
  readonly deadlines?: object;
  readonly upstreams?: Upstreams;
  /** Keys of those that the options name beside the servers. */
  readonly programs?: readonly string[];
  readonly store?: HostStore;
}

/** What a tool of the servers said. */
export function saidIn(result: unknown): unknown {
  const text: unknown = Reflect.get(Object(Reflect.get(Object(Reflect.get(Object(result), "content")), "0")), "text");
  return typeof text === "string" ? JSON.parse(text) : undefined;
}
