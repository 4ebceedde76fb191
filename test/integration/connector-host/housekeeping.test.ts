import { expect, it } from "vitest";
import { ConnectorHost } from "../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { releaseOf } from "../../support/releases.js";

it("R-11: a host that starts forgets accounts that were not seen for 90 days, and no others", async () => {
  const store = createMemoryStore();
  const dayMs = 24 * 60 * 60_000;
  const seen = (accountId: string, daysAgo: number) => ({
    accountId,
    syncSeq: 1,
    applied: undefined,
    pastEpochs: [],
    hold: undefined,
    seenAt: Date.now() - daysAgo * dayMs,
  });
  await store.write(async (tx) => {
    await tx.projections.putAccount(seen("gone", 91));
    await tx.projections.putAccount(seen("away", 89));
  });
  const host = await ConnectorHost.start(
    {
      baseUrl: "http://127.0.0.1:9",
      releases: [releaseOf("a")],
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "test", version: "1.0.0" },
      hintsUrl: false,
    },
    store,
  );
  const left = async (): Promise<readonly string[]> => {
    const accounts = await store.read((tx) => tx.projections.listAccounts());
    return accounts.map(({ accountId }) => accountId);
  };
  await expect.poll(left).toEqual(["away"]);
  await host.close();
});
