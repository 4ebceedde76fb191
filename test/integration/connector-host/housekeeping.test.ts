import { expect, it } from "vitest";
import { ConnectorHost } from "../../../src/connector-host/index.js";
import type { ConvergenceRow } from "../../../src/reconcile/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { silentLogger } from "../../../src/transport/index.js";
import { releaseOf } from "../../support/releases.js";

it("R-8, R-11: a host that starts forgets accounts that were not seen for 90 days, and no others, and says so", async () => {
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
  const planned = (scope: string): ConvergenceRow => ({
    scope,
    key: "a",
    desired: { generation: 1, enabled: true, identity: "" },
    observed: undefined,
    attempts: 0,
    failures: 0,
    nextAttemptAt: undefined,
    notBefore: undefined,
    runToken: undefined,
    lastError: undefined,
    updatedAt: 0,
  });
  await store.write(async (tx) => {
    await tx.projections.putAccount(seen("gone", 91));
    await tx.projections.putAccount(seen("away", 89));
    for (const accountId of ["gone", "away"]) await tx.convergence.put(planned(`account:${accountId}`));
  });
  const warnings: string[] = [];
  const debug = (): void => {
    throw new Error("A logger that is broken.");
  };
  const host = await ConnectorHost.start(
    {
      baseUrl: "http://127.0.0.1:9",
      releases: [releaseOf("a")],
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "test", version: "1.0.0" },
      hintsUrl: false,
      logger: { ...silentLogger, warn: (message) => warnings.push(message), debug },
    },
    store,
  );
  const left = async (): Promise<readonly string[]> => {
    const accounts = await store.read((tx) => tx.projections.listAccounts());
    return accounts.map(({ accountId }) => accountId);
  };
  await expect.poll(left).toEqual(["away"]);
  // Who follows what happens hears of it.
  const { value } = await host.events.follow({ after: 0 }).next();
  expect(value).toMatchObject({ kind: "removed", scope: "account:gone", key: "a", seq: 1 });
  expect(await host.events.position()).toBe(1);
  expect(warnings).toEqual([]);
  await host.close();
});
