import type { RemoteConnectorError } from "../../errors.js";
import { beginList, endList, FIRST_LIST, type ListPace, noteChange } from "./list-pace.js";
import {
  CLEAN_RECORD,
  type Moment,
  planRestart,
  renewBudget,
  type RestartConfig,
  type RestartPlan,
  type RestartRecord,
} from "./restart-budget.js";
import type { SupervisedState } from "./supervised-state.js";

export interface MachineConfig extends RestartConfig {
  readonly listIntervalMs: number;
}

/** What a server that runs is called by the outcome of its last list. */
export type Health = Extract<SupervisedState, { readonly kind: "ready" | "degraded" }>;

export type Phase =
  | { readonly kind: "disabled" }
  | { readonly kind: "closed" }
  /** Until the server is initialized. */
  | { readonly kind: "opening"; readonly life: number }
  /** The process lives. `health` is there once a first list ended. */
  | {
      readonly kind: "up";
      readonly life: number;
      readonly since: number;
      readonly health: Health | undefined;
      readonly list: ListPace;
    }
  | { readonly kind: "down"; readonly error: RemoteConnectorError; readonly plan: RestartPlan };

type Up = Extract<Phase, { readonly kind: "up" }>;

export interface Machine {
  readonly phase: Phase;
  /** The number of the newest life; 0 before the first. */
  readonly lives: number;
  readonly record: RestartRecord;
}

/** How a list ended. */
export type ListOutcome =
  | { readonly kind: "listed"; readonly tools: number }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError };

/** What can happen. That of a life that is over changes nothing. */
export type MachineEvent =
  | { readonly kind: "enable" | "disable" | "restart" | "close" }
  /** A call wants the server. */
  | { readonly kind: "wanted" }
  | { readonly kind: "opened"; readonly life: number }
  /** The process ended, or could not be started. `isLasting`: no other start would do better. */
  | { readonly kind: "ended"; readonly life: number; readonly error: RemoteConnectorError; readonly isLasting: boolean }
  /** The server says that its tools changed. */
  | { readonly kind: "changed"; readonly life: number }
  | { readonly kind: "listed"; readonly life: number; readonly outcome: ListOutcome }
  /** The moment of {@link dueAt} has come. */
  | { readonly kind: "due" };

/** What is to be done, in order. A life is opened after all before it are closed. */
export type Effect = { readonly kind: "open" | "close" | "list"; readonly life: number };

export interface Step {
  readonly machine: Machine;
  readonly effects: readonly Effect[];
}

/** A server that nobody has switched on yet. */
export const SWITCHED_OFF: Machine = { phase: { kind: "disabled" }, lives: 0, record: CLEAN_RECORD };

/** What follows from an event. Pure and total. */
export function nextState(machine: Machine, event: MachineEvent, moment: Moment, config: MachineConfig): Step {
  const { phase } = machine;
  if (phase.kind === "closed") return unchanged(machine);
  switch (event.kind) {
    case "enable":
      return phase.kind === "disabled" ? open({ ...machine, record: CLEAN_RECORD }, []) : unchanged(machine);
    case "disable":
      return leave(machine, { kind: "disabled" });
    case "close":
      return leave(machine, { kind: "closed" });
    case "restart":
      if (phase.kind === "disabled") return unchanged(machine);
      return open({ ...machine, record: CLEAN_RECORD }, closing(phase));
    case "wanted":
      if (phase.kind !== "down" || phase.plan.kind !== "probe") return unchanged(machine);
      return open({ ...machine, record: renewBudget(machine.record) }, []);
    case "opened": {
      if (phase.kind !== "opening" || phase.life !== event.life) return unchanged(machine);
      const up: Up = { kind: "up", life: event.life, since: moment.now, health: undefined, list: FIRST_LIST };
      return { machine: { ...machine, phase: up }, effects: [{ kind: "list", life: event.life }] };
    }
    case "ended":
      return fall(machine, event, moment, config);
    case "changed":
      // The first list of a server that is not up yet begins later than this: it has the change.
      if (phase.kind !== "up" || phase.life !== event.life) return unchanged(machine);
      return withList(machine, phase, noteChange(phase.list, moment.now, config.listIntervalMs));
    case "listed":
      if (phase.kind !== "up" || phase.life !== event.life) return unchanged(machine);
      return judge(machine, phase, event.outcome, moment, config);
    case "due":
      return onDue(machine, moment);
  }
}

/** When {@link MachineEvent} `due` is wanted, in milliseconds of the clock. */
export function dueAt({ phase }: Machine): number | undefined {
  const at =
    phase.kind === "up" ? phase.list.dueAt : phase.kind === "down" && "at" in phase.plan ? phase.plan.at : undefined;
  return at === Infinity ? undefined : at;
}

/** What is to be told of the server. */
export function stateOf({ phase }: Machine): SupervisedState {
  switch (phase.kind) {
    case "closed":
    case "disabled":
      return { kind: "disabled" };
    case "opening":
      return { kind: "starting" };
    case "up":
      // Never "ready, no tools": nobody has asked for them yet.
      return phase.health ?? { kind: "starting" };
    case "down": {
      const { error, plan } = phase;
      return { kind: "offline", error, next: plan.kind, delayMs: plan.kind === "none" ? undefined : plan.delayMs };
    }
  }
}

function unchanged(machine: Machine): Step {
  return { machine, effects: [] };
}

function open(machine: Machine, before: readonly Effect[]): Step {
  const life = machine.lives + 1;
  return {
    machine: { ...machine, lives: life, phase: { kind: "opening", life } },
    effects: [...before, { kind: "open", life }],
  };
}

function leave(machine: Machine, phase: Phase): Step {
  return { machine: { ...machine, phase, record: CLEAN_RECORD }, effects: closing(machine.phase) };
}

/** What the end of a phase leaves to be done. */
function closing(phase: Phase): readonly Effect[] {
  return phase.kind === "opening" || phase.kind === "up" ? [{ kind: "close", life: phase.life }] : [];
}

function fall(
  machine: Machine,
  { life, error, isLasting }: Extract<MachineEvent, { readonly kind: "ended" }>,
  moment: Moment,
  config: MachineConfig,
): Step {
  const { phase } = machine;
  if ((phase.kind !== "opening" && phase.kind !== "up") || phase.life !== life) return unchanged(machine);
  const servedMs = phase.kind === "up" ? moment.now - phase.since : undefined;
  const { record, plan } = planRestart(machine.record, { servedMs, isLasting }, moment, config);
  return { machine: { ...machine, phase: { kind: "down", error, plan }, record }, effects: closing(phase) };
}

function judge(machine: Machine, up: Up, outcome: ListOutcome, { now }: Moment, config: MachineConfig): Step {
  const health = healthOf(outcome);
  const again = health.kind === "degraded" ? now + config.probeIntervalMs : undefined;
  const list = endList(up.list, now, config.listIntervalMs, again);
  // A probe that succeeds vouches for the server.
  const record = health.kind === "ready" && machine.record.isSpent ? renewBudget(machine.record) : machine.record;
  return { machine: { ...machine, record, phase: { ...up, health, list } }, effects: [] };
}

function healthOf(outcome: ListOutcome): Health {
  if (outcome.kind === "failed") return { kind: "degraded", reason: "list_failed", error: outcome.error };
  const { tools } = outcome;
  return tools === 0 ? { kind: "degraded", reason: "empty_list" } : { kind: "ready", tools };
}

function withList(machine: Machine, up: Up, list: ListPace): Step {
  return unchanged({ ...machine, phase: { ...up, list } });
}

function onDue(machine: Machine, { now }: Moment): Step {
  const at = dueAt(machine);
  const { phase } = machine;
  if (at === undefined || now < at) return unchanged(machine);
  if (phase.kind === "down") return open(machine, []);
  if (phase.kind !== "up" || phase.list.isRunning) return unchanged(machine);
  const { machine: next } = withList(machine, phase, beginList(now));
  return { machine: next, effects: [{ kind: "list", life: phase.life }] };
}
