import type { HostTx } from "remote-connector/connector-host";
import { type Generations, member, textOf } from "./generations.js";
import { type AppliedNote, plain, PRUNED, rowName, type WrittenRow } from "./journal.js";
import type { KillPoint } from "./kill-points.js";

/** What one transaction changes. */
export class Changes {
  readonly #tx: HostTx;
  readonly #known: Generations;
  /** The rows as the transaction leaves them, by name. */
  readonly #rows = new Map<string, unknown>();
  /** Accounts whose fetches were counted: their rows are read when all is done. */
  readonly #counted = new Set<string>();
  /** The snapshot that the account's rows come from after this transaction, if it says so. */
  applied: AppliedNote | undefined;

  constructor(tx: HostTx, known: Generations) {
    this.#tx = tx;
    this.#known = known;
  }

  /** Takes a call in, and answers which point it is. */
  note(table: string, method: string, args: readonly unknown[]): KillPoint {
    const [first, second] = args;
    switch (`${table}.${method}`) {
      case "convergence.put":
        this.#rows.set(rowName("convergence", textOf(first, "scope"), textOf(first, "key")), plain(first));
        return this.#known.isNew(first) ? "plan" : "converge";
      case "convergence.remove":
        this.#rows.set(rowName("convergence", String(first), String(second)), null);
        return "converge";
      case "convergence.nextGeneration":
        return "number";
      case "projections.nextSyncSeq":
        this.#counted.add(String(first));
        return "number";
      case "projections.putAccount":
        this.#rows.set(rowName("account", textOf(first, "accountId")), plain(first));
        this.applied = appliedOf(first);
        return "apply";
      case "projections.put":
        this.#rows.set(rowName("projection", ...keyOf(first)), plain(first));
        return "apply";
      case "projections.remove":
        this.#rows.set(rowName("projection", String(first), String(second)), null);
        return "apply";
      case "overlays.put":
        this.#rows.set(rowName("overlay", ...keyOf(first)), plain(first));
        return "observe";
      case "overlays.remove":
        this.#rows.set(rowName("overlay", String(first), String(second)), null);
        return "observe";
      case "flows.put":
        this.#rows.set(rowName("flow", textOf(first, "accountId"), textOf(first, "clientRequestId")), plain(first));
        return "flow";
      case "flows.remove":
        this.#rows.set(rowName("flow", String(first), String(second)), null);
        return "flow";
      case "documents.put":
        this.#rows.set(rowName("document", textOf(first, "kind"), textOf(first, "key")), plain(first));
        return "keep";
      case "documents.remove":
        this.#rows.set(rowName("document", String(first), String(second)), null);
        return "keep";
      case "events.append":
        return "record";
      case "events.prune":
        this.#rows.set(rowName(PRUNED, String(first)), null);
        return "record";
      default:
        return "get";
    }
  }

  /** Takes in what a call answered: an event has no number before that. */
  noteResult(table: string, method: string, [at, fact]: readonly unknown[], result: unknown): void {
    if (`${table}.${method}` !== "events.append") return;
    this.#rows.set(rowName("event", String(result)), plain({ seq: result, at, fact }));
  }

  /** All rows that are changed. */
  async read(): Promise<readonly WrittenRow[]> {
    for (const account of this.#counted) {
      this.#rows.set(rowName("account", account), plain(await this.#tx.projections.account(account)));
    }
    return Array.from(this.#rows, ([name, row]) => ({ name, row }));
  }
}

function keyOf(row: unknown): readonly [account: string, key: string] {
  return [textOf(row, "accountId"), textOf(row, "connectorKey")];
}

/** `undefined` for an account whose snapshot was held, or that has none. */
function appliedOf(account: unknown): AppliedNote | undefined {
  if (member(account, "hold") !== undefined) return undefined;
  const applied = member(account, "applied");
  if (applied === undefined) return undefined;
  return {
    account: textOf(account, "accountId"),
    epoch: textOf(applied, "epoch"),
    revision: textOf(applied, "revision"),
  };
}
