import type { HostTx } from "remote-connector/connector-host";
import type { KillPoint } from "./kill-points.js";

/** Who is told of what a transaction is used for. */
export interface Watch {
  readonly at: (point: KillPoint) => void;
  readonly onCall: (table: string, method: string, args: readonly unknown[]) => void;
  readonly onResult: (table: string, method: string, args: readonly unknown[], result: unknown) => void;
  readonly onRow: (row: unknown) => void;
}

/** The same transaction, whose tables tell of every call before it is made. */
export function watchTx(tx: HostTx, watch: Watch): HostTx {
  const { at } = watch;
  const tables = new Map<string | symbol, object>();
  const onSettled: HostTx["onSettled"] = (run) => {
    tx.onSettled((outcome) => {
      at("settling");
      run(outcome);
    });
  };
  return new Proxy(tx, {
    get(target, name) {
      if (name === "onSettled") return onSettled;
      const table: unknown = Reflect.get(target, name);
      if (typeof table !== "object" || table === null) return table;
      let watched = tables.get(name);
      if (watched === undefined) {
        watched = watchTable(String(name), table, watch);
        tables.set(name, watched);
      }
      return watched;
    },
  });
}

function watchTable(name: string, table: object, { onCall, onResult, onRow }: Watch): object {
  return new Proxy(table, {
    get(target, method) {
      const run: unknown = Reflect.get(target, method);
      if (typeof run !== "function") return run;
      return async (...args: readonly unknown[]) => {
        onCall(name, String(method), args);
        for (const arg of args) onRow(arg);
        const result: unknown = await Reflect.apply(run, target, args);
        onResult(name, String(method), args, result);
        for (const row of Array.isArray(result) ? result : [result]) onRow(row);
        return result;
      };
    },
  });
}
