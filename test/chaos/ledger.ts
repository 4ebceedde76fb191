import { CommittedRows, type Rows } from "./committed-rows.js";
import { EventOrder } from "./event-order.js";
import type { Finding, Sayings } from "./finding.js";
import { member } from "./generations.js";
import { type AppliedNote, type JournalLine, rowName } from "./journal.js";
import { judgeAttempts, judgeSnapshot } from "./judge-rows.js";
import { RouteBook, type RouteLogin } from "./route-book.js";
import type { Said } from "./world.js";

/** Transactions that may end before a snapshot that found no room has had its effect. */
const GRACE = 2;
/** A snapshot that goes backwards is accepted when so many were held before it. */
const HELD_BEFORE = 2;

/** How much of what happened. */
export interface Tally {
  commits: number;
  rollbacks: number;
  snapshots: number;
  publications: number;
  withdrawals: number;
  events: number;
  logins: number;
}

/**
 * Judges what the lives of one host wrote down, line by line. It knows nothing of the host's file: it keeps the rows that were
 * committed, by what was written down of them, and compares what was published with them.
 */
export class Ledger {
  readonly #findings: Finding[] = [];
  readonly tally: Tally = {
    commits: 0,
    rollbacks: 0,
    snapshots: 0,
    publications: 0,
    withdrawals: 0,
    events: 0,
    logins: 0,
  };
  readonly #find = (check: string, says: string): void => void this.#findings.push({ check, says });
  readonly #sayings: Sayings;
  readonly rows = new CommittedRows();
  readonly routes = new RouteBook(this.#find);
  readonly events = new EventOrder(this.#find);
  readonly #epochs = new Set<string>();
  /** The last revision of each epoch of the control plane that an account was at, the present one last. */
  readonly #places = new Map<string, Map<string, bigint>>();
  #login: RouteLogin | undefined;
  /** The snapshot that the transaction which ended last could not write. */
  #attempt: AppliedNote | null = null;
  /** What such a snapshot said, and how many transactions may still end before it must have had its effect. */
  #unwritten: { readonly said: Said; left: number } | undefined;

  constructor(sayings: Sayings) {
    this.#sayings = sayings;
  }

  /** What was found since it was asked for last. */
  takeFindings(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  /** The process is dead, and its file has these rows. */
  resume(file: Rows): void {
    this.rows.resume(file);
    this.events.judgeFile(file, this.rows.goneUpTo);
  }

  read(line: JournalLine): void {
    switch (line.t) {
      case "life":
        this.#signOut();
        this.routes.forget();
        return;
      case "login":
        this.tally.logins += 1;
        if (this.#epochs.has(line.epoch)) this.#find("epochs", `the epoch ${line.epoch} came again`);
        this.#epochs.add(line.epoch);
        // The scope of the device begins with the process, and needs nobody.
        if (line.account === "") {
          this.routes.beginDevice(line.epoch);
          return;
        }
        this.#login = { account: line.account, epoch: line.epoch, isReady: false };
        return;
      case "logout":
        this.#signOut();
        this.routes.signOut();
        return;
      case "begin":
        this.rows.begin();
        return;
      case "write":
        this.rows.write(line.rows);
        return;
      case "commit":
        this.#commit(line.applied);
        return;
      case "rollback":
        this.tally.rollbacks += 1;
        this.rows.rollBack();
        this.#attempt = line.applied;
        return;
      case "end":
        this.#end();
        return;
      case "route":
        if (line.kind === "withdrawn") this.tally.withdrawals += 1;
        else this.tally.publications += 1;
        this.routes.change(line, this.#login, this.rows.rows);
        return;
      case "event":
        this.tally.events += 1;
        this.events.hear(line, this.rows.goneUpTo);
        return;
      case "wish":
        this.routes.wish(line);
        return;
      case "kill":
        return;
    }
  }

  #signOut(): void {
    this.#login = undefined;
    this.#unwritten = undefined;
  }

  #commit(note: AppliedNote | null): void {
    this.tally.commits += 1;
    this.#attempt = null;
    const account = note === null ? undefined : this.rows.rows.get(rowName("account", note.account));
    this.rows.commit((name, before, after) => judgeAttempts(name, before, after, this.#find));
    if (note === null) return;
    this.tally.snapshots += 1;
    this.#judgeProgress(note, account);
    judgeSnapshot(this.rows.rows, note, this.#sayings, this.#find);
    if (note.account !== this.#login?.account) return;
    this.#login.isReady = true;
    this.#unwritten = undefined;
  }

  /**
   * Snapshots only go forwards: to greater revisions, and to epochs that were not left before; unless the control plane insisted.
   * `before`: the account's row.
   */
  #judgeProgress({ account, epoch, revision }: AppliedNote, before: unknown): void {
    const places = this.#places.get(account) ?? new Map<string, bigint>();
    this.#places.set(account, places);
    const [latest] = [...places.keys()].slice(-1);
    const reached = places.get(epoch) ?? 0n;
    const isBackwards = BigInt(revision) < reached || (places.has(epoch) && epoch !== latest);
    const hasInsisted = Number(member(member(before, "hold"), "count")) >= HELD_BEFORE;
    if (isBackwards && !hasInsisted) {
      this.#find("snapshots", `${account} went back to ${epoch} ${revision}`);
    }
    places.delete(epoch);
    places.set(epoch, BigInt(revision));
  }

  /** Whoever waited for the end of a transaction was told: the routes of what it revoked are gone. */
  #end(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    const account = this.#login?.account;
    if (account === undefined) return;
    this.routes.judgeRevoked(account, this.rows.rows);
    if (this.#unwritten !== undefined) {
      this.#unwritten.left -= 1;
      if (this.#unwritten.left === 0) {
        this.routes.judgeUnwritten(this.#unwritten.said);
        this.#unwritten = undefined;
      }
    }
    // One that found no room has its effect all the same, if not in the same breath.
    if (attempt?.account !== account) return;
    const said = this.#sayings(account, attempt.epoch.slice(1), attempt.revision);
    if (said !== undefined) this.#unwritten = { said, left: GRACE };
  }
}
