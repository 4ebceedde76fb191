import type { ConnectorHost } from "remote-connector/connector-host";
import { releaseOf } from "../support/releases.js";
import { DEVICE_PATH } from "./control-plane.js";
import { INSTALLED_KEY, REGISTERED_KEY, type Wish } from "./wishes.js";

/** Makes a host what is wanted of one connector. Rejects as its administration does; it may be so all the same then. */
export async function grant(host: ConnectorHost, { key, to }: Wish, baseUrl: string): Promise<void> {
  const { connectors } = host;
  const isThere = connectors.list().some(({ connectorKey }) => connectorKey === key);
  if (key === INSTALLED_KEY) {
    const release = releaseOf(key, { version: to, authorization: { kind: "none" } });
    if (to !== "none") await (isThere ? connectors.update(release) : connectors.install(release));
    else if (isThere) await connectors.uninstall(key);
  } else if (key !== REGISTERED_KEY) await connectors.setEnabled(key, to === "on");
  else if (to === "paused" || to === "active") {
    const settings = { endpoint: `${baseUrl}${DEVICE_PATH}`, protocol: "modern" };
    if (!isThere) await connectors.registrations.create({ slug: key, displayName: "Docs", settings });
    await connectors.registrations.setState(key, to);
  } else if (isThere) await connectors.registrations.remove(key);
}

/** What a host has of everything that people can want, by key. */
export function describeCatalog({ connectors }: ConnectorHost): Readonly<Record<string, string>> {
  const found: Record<string, string> = { [INSTALLED_KEY]: "none", [REGISTERED_KEY]: "none" };
  for (const { connectorKey: key, kind, enabled, paused, version = "", candidateVersion } of connectors.list()) {
    if (key === INSTALLED_KEY)
      found[key] = candidateVersion === undefined ? version : `${candidateVersion} before ${version}`;
    else if (kind === "registration") found[key] = paused ? "paused" : "active";
    else found[key] = enabled ? "on" : "off";
  }
  return found;
}
