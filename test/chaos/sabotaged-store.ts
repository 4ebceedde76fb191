import type { HostStore, HostTx } from "remote-connector/connector-host";
import type { Sabotage } from "./orders.js";

/** Every so many rows, one is dropped. */
const DROP_EVERY = 5;

/** A store that does one thing wrong, below what watches it. */
export function sabotageStore(store: HostStore, sabotage: Sabotage | null): HostStore {
  if (sabotage === "drop_rows") return withWork(store, dropRows());
  return sabotage === "split_commits" ? splitCommits(store) : store;
}

/** A store whose user is not told of everything: above what watches it. */
export function sabotageUse(store: HostStore, sabotage: Sabotage | null): HostStore {
  return sabotage === "no_fences" ? withWork(store, withoutFences) : store;
}

function withWork(store: HostStore, change: (tx: HostTx) => HostTx): HostStore {
  return {
    write: (work) => store.write((tx) => work(change(tx))),
    read: (work) => store.read(work),
    close: () => store.close(),
  };
}

function dropRows(): (tx: HostTx) => HostTx {
  let rows = 0;
  return (tx) => {
    const { convergence } = tx;
    return withConvergence(tx, {
      put: async (row) => {
        rows += 1;
        const before = rows % DROP_EVERY === 0 ? await convergence.get(row.scope, row.key) : undefined;
        await convergence.put(before ?? row);
      },
    });
  };
}

/** Rows of convergence are written in a second transaction, when the first has been committed and told of. */
function splitCommits(store: HostStore): HostStore {
  return {
    async write(work) {
      const later: ((tx: HostTx) => Promise<void>)[] = [];
      const result = await store.write((tx) => {
        const { convergence } = tx;
        const waiting = new Map<string, Parameters<typeof convergence.put>[0]>();
        return work(
          withConvergence(tx, {
            get: async (scope, key) => waiting.get(JSON.stringify([scope, key])) ?? convergence.get(scope, key),
            put: async (row) => {
              waiting.set(JSON.stringify([row.scope, row.key]), row);
              later.push((next) => next.convergence.put(row));
            },
          }),
        );
      });
      if (later.length > 0) {
        await store.write(async (tx) => {
          for (const run of later) await run(tx);
        });
      }
      return result;
    },
    read: (work) => store.read(work),
    close: () => store.close(),
  };
}

/** Of those who wait for the end of a transaction, those that planned after facts were written are not told. */
function withoutFences(tx: HostTx): HostTx {
  let facts = false;
  const { projections } = tx;
  const put: typeof projections.put = (row) => {
    facts = true;
    return projections.put(row);
  };
  return instead(tx, {
    projections: instead(projections, { put }),
    onSettled: (run) => tx.onSettled(facts ? () => undefined : run),
  });
}

function withConvergence(tx: HostTx, changes: Partial<HostTx["convergence"]>): HostTx {
  return instead(tx, { convergence: instead(tx.convergence, changes) });
}

/** The same object with some other members. */
function instead<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(Object.hasOwn(members, name) ? members : target, name);
      return member;
    },
  });
}
