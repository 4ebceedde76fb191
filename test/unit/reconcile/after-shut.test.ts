import { describe, expect, it } from "vitest";
import type { Store, StoreTx } from "../../../src/store/index.js";
import type { UnitOfWork } from "../../../src/reconcile/index.js";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World } from "./world.js";

/** A store whose transactions wait, while `isBusy`, behind those of somebody else. */
class BusyStore {
  isBusy = false;
  readonly #waiting: (() => void)[] = [];

  readonly wrap = (store: Store): UnitOfWork<StoreTx> => ({
    read: (work) => store.read(work),
    write: async (work) => {
      if (this.isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return store.write(work);
    },
  });

  goOn(): void {
    this.isBusy = false;
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

async function setUp() {
  const busy = new BusyStore();
  const world = new World({ wrap: busy.wrap });
  world.controller.activateScope(SCOPE);
  await world.set("a", {});
  await world.idle();
  return { busy, world };
}

async function rowOf(world: World) {
  return world.store.read((tx) => tx.convergence.get(SCOPE, "a"));
}

describe("A scope that is shut while the store is busy", () => {
  it("R-2: no run of it begins any more", async () => {
    const { busy, world } = await setUp();
    world.routes.remove(SCOPE, "a");
    busy.isBusy = true;
    world.controller.wake(SCOPE, ["a"]);
    await settle();
    world.controller.shutScope(SCOPE);
    const { length } = world.events;
    const before = await rowOf(world);
    busy.goOn();
    await world.idle();
    expect(world.events.slice(length)).toEqual([]);
    expect(await rowOf(world)).toEqual(before);
    await world.controller.close();
  });

  it("R-2, R-7: an exit of it is no failure of the next epoch", async () => {
    const { busy, world } = await setUp();
    const route = world.routes.route("a");
    if (route === undefined) throw new Error("no route");
    busy.isBusy = true;
    world.controller.exited(route, new Error("ended with its login"));
    await settle();
    world.controller.shutScope(SCOPE);
    const { length } = world.events;
    const before = await rowOf(world);
    busy.goOn();
    await world.idle();
    expect(world.events.slice(length)).toEqual([]);
    expect(await rowOf(world)).toEqual(before);
    await world.controller.close();
  });
});
