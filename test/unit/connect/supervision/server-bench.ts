import { RemoteConnectorError } from "../../../../src/errors.js";
import {
  type McpCallOptions,
  type McpClient,
  type McpToolCallOptions,
  type OpenedServer,
  type ServerOpening,
  type SupervisedServer,
  type SupervisedState,
  superviseServer,
  type SupervisionOptions,
} from "../../../../src/connect/index.js";
import type {
  CallToolResult,
  DetailedResult,
  Diagnostic,
  ToolCall,
  ToolList,
  WithDetail,
} from "../../../../src/protocol/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

/** The end of a process, as the clients of this package tell it. */
export function exit(exitCode = 1): RemoteConnectorError<"process_exited"> {
  const details = { exitCode, signal: undefined, stderrTail: "" };
  return new RemoteConnectorError("process_exited", { message: `exited with code ${String(exitCode)}`, details });
}

/** A request that the test answers, or fails. */
interface Asked {
  readonly options: McpCallOptions;
  answer(value: unknown): void;
  fail(error: unknown): void;
}

/** How a start ends. */
interface StartOutcome {
  resolve(opened: OpenedServer): void;
  reject(error: unknown): void;
}

const unused = (): Promise<never> => Promise.reject(new Error("not asked for here"));

/** A process that is whatever the test makes of it: the far side of the port that starts servers. */
export class FakeProcess implements McpClient {
  readonly era = "legacy";
  readonly revision = "2025-11-25";
  readonly opening: ServerOpening;
  readonly lists: Asked[] = [];
  readonly calls: (Asked & { readonly call: ToolCall })[] = [];
  readonly #start: StartOutcome;
  #isOpen = false;
  #exited: (error: RemoteConnectorError) => void = () => undefined;
  closes = 0;
  /** Nothing is left of it. */
  isGone = false;
  /** Its end is held up until this is called. */
  letGo: () => void = () => undefined;
  isStubborn = false;

  readonly complete = unused;
  readonly discover = unused;
  readonly getPrompt = unused;
  readonly listAllPrompts = unused;
  readonly listAllResourceTemplates = unused;
  readonly listAllResources = unused;
  readonly listPrompts = unused;
  readonly listResourceTemplates = unused;
  readonly listResources = unused;
  readonly listTools = unused;
  readonly readResource = unused;
  readonly request = unused;

  constructor(opening: ServerOpening, start: StartOutcome) {
    this.opening = opening;
    this.#start = start;
    opening.signal.addEventListener("abort", () => {
      if (!this.#isOpen) this.#abandon(opening.signal.reason);
    });
  }

  listen(): never {
    throw new Error("not asked for here");
  }

  listAllTools(options: McpCallOptions = {}): Promise<ToolList> {
    return new Promise((resolve, fail) => {
      const answer = (names: unknown): void => resolve(toolList(names));
      this.lists.push({ options, answer, fail });
    });
  }

  callTool(call: ToolCall, options: McpToolCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: McpToolCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: McpToolCallOptions = {}): Promise<never> {
    return new Promise<never>((resolve: (value: never) => void, fail) => {
      const answer = (value: unknown): void => Reflect.apply(resolve, undefined, [value]);
      this.calls.push({ call, options, answer, fail });
    });
  }

  async close(): Promise<void> {
    this.closes += 1;
    if (this.isStubborn) await new Promise<void>((resolve) => (this.letGo = resolve));
    this.isGone = true;
  }

  /** It is initialized. */
  async initialize(): Promise<void> {
    if (!this.isGone) this.#isOpen = true;
    this.#start.resolve({ client: this, exited: new Promise((resolve) => (this.#exited = resolve)) });
    await settle();
  }

  /** The newest list is answered. */
  async give(...names: readonly string[]): Promise<void> {
    this.lists.at(-1)?.answer(names);
    await settle();
  }

  /** It can't be started. */
  async fail(error: unknown): Promise<void> {
    this.#abandon(error);
    await settle();
  }

  async die(error: RemoteConnectorError = exit()): Promise<void> {
    if (this.#isOpen) this.#exited(error);
    else this.#abandon(error);
    await settle();
  }

  #abandon(error: unknown): void {
    this.isGone = true;
    this.#start.reject(error);
  }
}

function toolList(names: unknown): ToolList {
  const tools = Array.isArray(names)
    ? names.map((name) => ({ name: String(name), inputSchema: { type: "object" } }))
    : [];
  return { tools, contracts: new Map(), duplicates: new Set(), definitions: new Map(), diagnostics: [] };
}

/** A supervised server whose clock and whose processes are the test's. */
export class Bench {
  readonly clock = new FakeClock();
  readonly processes: FakeProcess[] = [];
  /** What was told, in order: states, and lists as the names of their tools. */
  readonly told: (SupervisedState | readonly string[])[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly server: SupervisedServer;

  constructor(options: SupervisionOptions = {}) {
    this.server = superviseServer({
      open: (opening) =>
        new Promise((resolve, reject) => this.processes.push(new FakeProcess(opening, { resolve, reject }))),
      clock: this.clock,
      random: () => 1,
      onState: (state) => this.told.push(state),
      onTools: ({ tools }) => this.told.push(tools.map(({ name }) => name)),
      onDiagnostic: (diagnostic) => this.diagnostics.push(diagnostic),
      ...options,
    });
  }

  /** Lets the newest process be ready. */
  static async ready(options: SupervisionOptions = {}): Promise<Bench> {
    const bench = new Bench(options);
    await settle();
    await bench.newest.initialize();
    await bench.newest.give("echo");
    return bench;
  }

  get newest(): FakeProcess {
    const process = this.processes.at(-1);
    if (process === undefined) throw new Error("Nothing was started.");
    return process;
  }

  get kinds(): readonly string[] {
    return this.told.map((each) => ("kind" in each ? each.kind : each.join(",")));
  }
}

/** How a promise stands: pending, or what came of it. */
export async function standing(promise: Promise<unknown>): Promise<unknown> {
  const pending = settle().then(() => "pending");
  return Promise.race([promise.catch((error: unknown) => error), pending]);
}
