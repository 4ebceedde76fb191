import type { RemoteConnectorError } from "../../errors.js";
import type { Diagnostic } from "../../protocol/index.js";
import { failureOf, type Lifetimes } from "../../transport/index.js";
import type { ClientMeta } from "../request-meta.js";
import { probe } from "./probe.js";
import { judgeServer } from "./probe-verdict.js";
import { restartDelayMs, wasStable } from "./restart-pace.js";
import { ServerProcess, type ServerProcessEvents } from "./server-process.js";
import type { StdioChannelConfig } from "./stdio-options.js";

type State =
  | { readonly kind: "idle" }
  /** Others ended early: the next start waits. */
  | { readonly kind: "pausing"; readonly cancel: () => void }
  /** `process` is there once it runs. */
  | { readonly kind: "starting"; readonly process: ServerProcess | undefined }
  | { readonly kind: "serving"; readonly process: ServerProcess; readonly since: number }
  /** There will be no other process. */
  | { readonly kind: "spent"; readonly error: RemoteConnectorError }
  | { readonly kind: "closed" };

const IDLE: State = { kind: "idle" };

/** Who wants a process. */
export interface KeeperOwner {
  readonly lifetimes: Lifetimes;
  readonly meta: ClientMeta;
  nextId(): number;
  onNotification(method: string, params: unknown): void;
  onDiagnostic(diagnostic: Diagnostic): void;
  /** Whether anything waits for a process. */
  isWaiting(): boolean;
  /** There is one that can be given messages. */
  onReady(process: ServerProcess): void;
  /** There is none, and what waits for one waits in vain. */
  onUnready(error: RemoteConnectorError): void;
}

/**
 * Sees to it that there is a process when one is wanted: started, probed, and started again after its end. Starts after early
 * ends wait, longer each time. Nothing is started that nobody waits for.
 */
export class ServerKeeper implements ServerProcessEvents {
  readonly #config: StdioChannelConfig;
  readonly #owner: KeeperOwner;
  #state: State = IDLE;
  /** Starts in a row that failed, or whose process ended early. */
  #failures = 0;
  #lastFailure: RemoteConnectorError | undefined;
  /** When there was a process last; pauses begin with that, and not with who wants the next one. */
  #restingSince = 0;
  /** What has to be over before nothing is left. */
  readonly #pending = new Set<Promise<void>>();

  constructor(config: StdioChannelConfig, owner: KeeperOwner) {
    this.#config = config;
    this.#owner = owner;
  }

  /** The process that can be given messages now. */
  get current(): ServerProcess | undefined {
    return this.#state.kind === "serving" && this.#state.process.isUsable ? this.#state.process : undefined;
  }

  /** Why there is no process, when an earlier failure is the reason. */
  get holdup(): RemoteConnectorError | undefined {
    return this.#state.kind === "serving" ? undefined : this.#lastFailure;
  }

  /** Whether there will be no other process. */
  get isSpent(): boolean {
    return this.#state.kind === "spent";
  }

  /** Something waits for a process: its owner is told, at the earliest while this runs. */
  want(): void {
    if (this.#state.kind === "spent") this.#owner.onUnready(this.#state.error);
    if (this.#state.kind !== "idle") return;
    const { clock, restart } = this.#config;
    const leftMs = restartDelayMs(this.#failures, restart) - (clock.now() - this.#restingSince);
    if (leftMs <= 0) {
      this.#open();
      return;
    }
    const cancel = clock.schedule(leftMs, () => {
      this.#state = IDLE;
      // Whoever wanted it may have given up.
      if (this.#owner.isWaiting()) this.#open();
    });
    this.#state = { kind: "pausing", cancel };
  }

  /** Ends what there is. Resolves when nothing is left. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: "closed" };
    if (state.kind === "pausing") state.cancel();
    if (state.kind === "serving" || state.kind === "starting") this.#retire(state.process);
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  onNotification(method: string, params: unknown): void {
    this.#owner.onNotification(method, params);
  }

  onDiagnostic(diagnostic: Diagnostic): void {
    this.#owner.onDiagnostic(diagnostic);
  }

  onEnd(process: ServerProcess, error: RemoteConnectorError): void {
    this.#retire(process);
    const state = this.#state;
    // While it starts, its probe tells.
    if (state.kind !== "serving" || state.process !== process) return;
    if (wasStable(this.#config.clock.now() - state.since, this.#config.restart)) this.#failures = 0;
    else this.#failures += 1;
    this.#rest(error);
    this.#config.onProcessEnd(error);
    if (this.#owner.isWaiting()) this.want();
  }

  #open(): void {
    this.#state = { kind: "starting", process: undefined };
    this.#track(this.#start());
  }

  async #start(): Promise<void> {
    let process: ServerProcess | undefined;
    let failure: RemoteConnectorError | undefined;
    try {
      process = await ServerProcess.open(this.#config.command, this.#config.clock, this);
      if (this.#state.kind === "starting") {
        this.#state = { kind: "starting", process };
        failure = await this.#probe(process);
      }
    } catch (error) {
      failure = failureOf(error);
    }
    if (this.#state.kind !== "starting") {
      this.#retire(process);
    } else if (process === undefined || failure !== undefined) {
      this.#retire(process);
      this.#failures += 1;
      this.#rest(failure ?? failureOf(undefined));
      this.#owner.onUnready(failure ?? failureOf(undefined));
    } else {
      this.#state = { kind: "serving", process, since: this.#config.clock.now() };
      this.#owner.onReady(process);
      // It may be gone already; its end was told while it started.
      if (process.ended !== undefined) this.onEnd(process, process.ended);
    }
  }

  async #probe(process: ServerProcess): Promise<RemoteConnectorError | undefined> {
    const { probeTimeoutMs: timeoutMs, clock } = this.#config;
    if (timeoutMs === undefined) return process.ended;
    const { lifetimes, meta } = this.#owner;
    const outcome = await probe(process, { id: this.#owner.nextId(), meta, timeoutMs, clock, lifetimes });
    return judgeServer(outcome, process.stderrTail());
  }

  #rest(error: RemoteConnectorError): void {
    this.#lastFailure = error;
    this.#restingSince = this.#config.clock.now();
    this.#state = this.#config.restart.restart === "never" ? { kind: "spent", error } : IDLE;
  }

  #retire(process: ServerProcess | undefined): void {
    if (process !== undefined) this.#track(process.close());
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }
}
