import { expect, it } from "vitest";
import { pruneFlows } from "../../../../src/auth-projection/index.js";
import { World } from "./world.js";

const DAY = 86_400_000;

it("R-8: finished flows go after 24 hours, others and those of other accounts stay", async () => {
  const world = new World();
  const now = world.clock.now() + 2 * DAY;
  const rows = [
    { clientRequestId: "old", state: "connected", updatedAt: now - DAY },
    { clientRequestId: "failed", state: "failed", updatedAt: now - 3 * DAY },
    { clientRequestId: "fresh", state: "cancelled", updatedAt: now - DAY + 1 },
    { clientRequestId: "open", state: "waiting", updatedAt: 0 },
    { clientRequestId: "ending", state: "cancelling", updatedAt: 0 },
    { clientRequestId: "future", state: "failed", updatedAt: now + DAY },
    { accountId: "other", clientRequestId: "old", state: "failed", updatedAt: 0 },
  ] as const;
  for (const row of rows) await world.leave(row);
  expect(await world.store.write((tx) => pruneFlows(tx, "acc", now))).toBe(2);
  const left = async (accountId: string) =>
    (await world.store.read((tx) => tx.flows.list(accountId))).map(({ clientRequestId }) => clientRequestId);
  expect(await left("acc")).toEqual(["ending", "fresh", "future", "open"]);
  expect(await left("other")).toEqual(["old"]);
  expect(await world.store.write((tx) => pruneFlows(tx, "acc", now))).toBe(0);
});

it("R-11: a hundred finished flows are kept, the latest", async () => {
  const world = new World();
  const now = world.clock.now();
  for (let index = 0; index < 130; index += 1) {
    await world.leave({
      clientRequestId: `r-${String(index).padStart(3, "0")}`,
      state: "failed",
      updatedAt: now + index,
    });
  }
  expect(await world.store.write((tx) => pruneFlows(tx, "acc", now))).toBe(30);
  const left = await world.store.read((tx) => tx.flows.list("acc"));
  expect([left.length, left[0]?.clientRequestId]).toEqual([100, "r-030"]);
});
