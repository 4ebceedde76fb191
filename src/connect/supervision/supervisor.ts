import type { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { McpClient } from "../mcp-client.js";
import { isLastingEnd } from "./end-of-process.js";
import {
  dueAt,
  type Effect,
  type Machine,
  type MachineEvent,
  nextState,
  type Phase,
  stateOf,
  SWITCHED_OFF,
} from "./next-state.js";
import { ServerLife, type ServerLifeEvents } from "./server-life.js";
import { isSameState, type SupervisedState } from "./supervised-state.js";
import type { SupervisionConfig } from "./supervision-options.js";

/** A process that can be called. */
export interface Running {
  readonly client: McpClient;
  /** A call found that the process is gone. */
  readonly reportEnd: (error: RemoteConnectorError) => void;
}

/** Runs the machine of one server: takes what happens, does what follows, and sees to its one timer. */
export class Supervisor {
  readonly #config: SupervisionConfig;
  /** Told after each event, before the state is. */
  readonly #onTurn: () => void;
  /** What is to happen; whoever is told of an event may add to it. */
  readonly #events: MachineEvent[] = [];
  #isTurning = false;
  #machine: Machine = SWITCHED_OFF;
  #told: SupervisedState;
  #life: ServerLife | undefined;
  #cancelTimer: (() => void) | undefined;
  /** The ends of former lives that are not over. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(config: SupervisionConfig, onTurn: () => void) {
    this.#config = config;
    this.#onTurn = onTurn;
    this.#told = { kind: config.enabled ? "starting" : "disabled" };
  }

  get phase(): Phase {
    return this.#machine.phase;
  }

  get state(): SupervisedState {
    return stateOf(this.#machine);
  }

  /** The process that can be called now. */
  get running(): Running | undefined {
    const { phase } = this;
    const client = this.#life?.client;
    if (phase.kind !== "up" || phase.health === undefined || client === undefined) return undefined;
    const { life } = phase;
    return { client, reportEnd: (error) => this.#end(life, error) };
  }

  /** Something happens. */
  take(event: MachineEvent): void {
    this.#events.push(event);
    if (this.#isTurning) return;
    this.#isTurning = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) this.#turn(next);
    this.#isTurning = false;
  }

  /** Resolves when nothing is left of any process that was to end. */
  async whenLeft(): Promise<void> {
    do await Promise.all(this.#leaving);
    while (this.#leaving.size > 0);
  }

  #turn(event: MachineEvent): void {
    const { clock, random } = this.#config;
    const moment = { now: clock.now(), random: random() };
    const { machine, effects } = nextState(this.#machine, event, moment, this.#config);
    this.#machine = machine;
    for (const effect of effects) this.#run(effect);
    this.#setTimer(clock);
    this.#onTurn();
    const state = stateOf(machine);
    if (isSameState(state, this.#told)) return;
    this.#told = state;
    this.#config.onState(state);
  }

  #run({ kind, life }: Effect): void {
    switch (kind) {
      case "open":
        this.#life = new ServerLife(this.#config, this.#eventsOf(life));
        this.#life.start(Promise.all(this.#leaving));
        return;
      case "list":
        this.#life?.list();
        return;
      case "close": {
        const leaving = this.#life?.close() ?? Promise.resolve();
        this.#life = undefined;
        this.#leaving.add(leaving);
        void leaving.then(() => this.#leaving.delete(leaving));
      }
    }
  }

  #eventsOf(life: number): ServerLifeEvents {
    return {
      onOpened: () => this.take({ kind: "opened", life }),
      onEnded: (error) => this.#end(life, error),
      onChanged: () => this.take({ kind: "changed", life }),
      onTools: this.#config.onTools,
      onListed: (outcome) => this.take({ kind: "listed", life, outcome }),
    };
  }

  #end(life: number, error: RemoteConnectorError): void {
    this.take({ kind: "ended", life, error, isLasting: isLastingEnd(error) });
  }

  #setTimer(clock: Clock): void {
    this.#cancelTimer?.();
    const at = dueAt(this.#machine);
    const run = (): void => this.take({ kind: "due" });
    this.#cancelTimer = at === undefined ? undefined : clock.schedule(Math.max(0, Math.ceil(at - clock.now())), run);
  }
}
