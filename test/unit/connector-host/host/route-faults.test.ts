import { describe, expect, it } from "vitest";
import { parseSnapshot } from "../../../../src/auth-projection/index.js";
import { ConnectorCatalog } from "../../../../src/connector-host/catalog/index.js";
import { type ObservedAccount, RouteFaults } from "../../../../src/connector-host/host/route-faults.js";
import { UnsettledFaults } from "../../../../src/connector-host/host/unsettled-faults.js";
import { UnwrittenNews } from "../../../../src/connector-host/host/unwritten-news.js";
import { RouteTable } from "../../../../src/connector-host/routes/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { silentLogger } from "../../../../src/transport/index.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const demand = new RemoteConnectorError("authorization_required", {
  message: "It wants one.",
  details: { connectorKey: "a", reauthorize: false },
  delivery: "answered",
});
const entry = releaseEntryOf("a");
const connection = { connectorKey: "a", connectionId: "c-a", connectionVersion: 4n };
const used = { ...connection, releaseDigest: entry.current?.digest ?? "" };
const granted = { ...connection, connectorVersion: "1.0.0" };

describe("RouteFaults", () => {
  it("P-8, R-10: a demand of a login that has ended while it was written down takes nothing from the news of the next", async () => {
    const news = new UnwrittenNews();
    let fail = (_error: Error): void => undefined;
    const accountOf = (scopeEpoch: string): ObservedAccount => ({
      scopeEpoch,
      sync: {
        observe: () => new Promise((_resolve, reject) => (fail = reject)),
        wake: () => undefined,
        state: () => ({ fetching: false }),
      },
    });
    let account = accountOf("e1");
    const faults = new RouteFaults({
      catalog: new ConnectorCatalog([entry]),
      routes: new RouteTable(),
      news,
      unsettled: new UnsettledFaults({ now: () => 0, onChange: () => undefined }),
      logger: silentLogger,
      account: () => account,
      controller: { revoke: () => undefined, report: () => undefined },
    });
    const observed = faults.observe("e1", used, demand);
    account = accountOf("e2");
    const snapshot = parseSnapshot(new TextEncoder().encode(JSON.stringify({ revision: 2, connectors: [] })));
    faults.onUnapplied("e2", snapshot);
    expect(news.denies("e2", granted)).toBe(true);
    fail(new Error("disk full"));
    await observed;
    expect(news.denies("e2", granted)).toBe(true);
    expect(news.denies("e1", granted)).toBe(false);
  });
});
