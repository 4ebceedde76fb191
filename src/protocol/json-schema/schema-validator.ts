import { plainText } from "../plain-text.js";
import { isSchema } from "./keywords.js";
import type { LinearPattern, PatternCompiler } from "./linear-pattern.js";
import { createPlanChecks, type PlanChecks } from "./plan-checks.js";
import { SchemaCache } from "./schema-cache.js";
import { planSchema, type SchemaPlan } from "./schema-plan.js";
import { StepMeter } from "./step-meter.js";
import type { SchemaValidatorConfig } from "./validator-options.js";
import {
  brokenSchema,
  overLimit,
  Refusal,
  type SchemaProblem,
  type SchemaValidator,
  type SchemaVerdict,
  VALID,
} from "./verdict.js";

/** What an engine needs to make a plan run. */
export interface EngineInput {
  readonly plan: SchemaPlan;
  readonly checks: PlanChecks;
  readonly meter: StepMeter;
}

/** A schema ready for use: the problems of a value, none when it conforms. May throw a refusal. */
export type CompiledSchema = (value: unknown) => readonly SchemaProblem[];

/** What judges plans. */
export interface SchemaEngine {
  readonly compile: (input: EngineInput) => CompiledSchema;
}

/** How an engine and the pattern compiler are loaded; each is asked for once, when it is first needed. */
export interface EngineLoader {
  readonly loadEngine: () => Promise<SchemaEngine>;
  /** Whether the engine judges by a plan exactly. */
  readonly suits: (plan: SchemaPlan) => boolean;
  /** The engine for plans that do not suit the first. */
  readonly loadExactEngine: () => Promise<SchemaEngine>;
  readonly loadPatterns: () => Promise<PatternCompiler>;
}

/** What is kept of a schema: how to judge by it, or why nothing can be. */
type Reading = { readonly kind: "compiled"; readonly judge: CompiledSchema; readonly meter: StepMeter } | SchemaVerdict;

const NO_PATTERNS: ReadonlyMap<string, LinearPattern> = new Map();
const MAX_REASON = 200;
const MAX_PATH = 500;

/** A validator on an engine: everything but the judging itself. */
export function createSchemaValidator(config: SchemaValidatorConfig, loader: EngineLoader): SchemaValidator {
  const readings = new SchemaCache<Reading>(config.maxCachedSchemas);
  /** Texts of schema objects already seen, so that a tool's schema is written out once. */
  const texts = new WeakMap<object, string>();
  let engine: Promise<SchemaEngine> | undefined;
  let exactEngine: Promise<SchemaEngine> | undefined;
  let patterns: Promise<PatternCompiler> | undefined;

  const loadEngine = (): Promise<SchemaEngine> => (engine ??= loader.loadEngine());
  const loadExactEngine = (): Promise<SchemaEngine> => (exactEngine ??= loader.loadExactEngine());
  const loadPatterns = (): Promise<PatternCompiler> => (patterns ??= loader.loadPatterns());

  function textOf(schema: unknown): string {
    const known = typeof schema === "object" && schema !== null ? texts.get(schema) : undefined;
    if (known !== undefined) return known;
    if (!isSchema(schema)) throw brokenSchema("", "neither an object nor a boolean");
    const text = JSON.stringify(schema);
    if (text.length > config.maxSchemaSize) throw overLimit("", "maxSchemaSize", config.maxSchemaSize);
    if (typeof schema === "object") texts.set(schema, text);
    return text;
  }

  async function read(text: string): Promise<Reading> {
    const known = readings.get(text);
    if (known !== undefined) return known;
    // A copy of our own: what the caller does to its object later has no effect.
    const plan = attempt(() => planSchema(JSON.parse(text), config));
    const reading = "kind" in plan ? plan : await compile(plan);
    readings.set(text, reading);
    return reading;
  }

  async function compile(plan: SchemaPlan): Promise<Reading> {
    const patternsOf = plan.patterns.size === 0 ? undefined : await loadPatterns();
    const prepared = attempt((): EngineInput => {
      const meter = new StepMeter(config.maxValidationSteps);
      return { plan, meter, checks: createPlanChecks(plan, patternsOf?.(plan.patterns) ?? NO_PATTERNS, meter) };
    });
    if ("kind" in prepared) return prepared;
    const judge = await compileWith(prepared);
    return typeof judge === "function" ? { kind: "compiled", judge, meter: prepared.meter } : judge;
  }

  async function compileWith(input: EngineInput): Promise<CompiledSchema | SchemaVerdict> {
    if (loader.suits(input.plan)) {
      const { compile: compilePlan } = await loadEngine();
      const judge = attempt(() => compilePlan(input));
      // Too much for the first may be little for the other.
      if (typeof judge === "function" || judge.kind !== "invalid" || judge.of !== "limit") return judge;
    }
    const { compile: compilePlan } = await loadExactEngine();
    return attempt(() => compilePlan(input));
  }

  return {
    async validate(schema, value) {
      const text = attempt(() => textOf(schema));
      if (typeof text !== "string") return text;
      const reading = await read(text);
      if (reading.kind !== "compiled") return reading;
      reading.meter.reset();
      return attempt(() => toVerdict(reading.judge(value), config.maxProblems));
    },
    async load() {
      await loadEngine();
    },
  };
}

/** Runs what may be refused, and turns every refusal into its verdict. Nothing that fails is ever `valid`. */
function attempt<T>(run: () => T): T | SchemaVerdict {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error.verdict;
    // The stack is a limit too; it has no option.
    const reason = error instanceof RangeError ? "nested too deep, or too large" : "can't be judged";
    return { kind: "invalid", of: error instanceof RangeError ? "limit" : "schema", problems: [{ path: "", reason }] };
  }
}

function toVerdict(problems: readonly SchemaProblem[], maxProblems: number): SchemaVerdict {
  if (problems.length === 0) return VALID;
  return {
    kind: "invalid",
    of: "value",
    problems: problems.slice(0, maxProblems).map(({ path, reason }) => ({
      path: plainText(path, MAX_PATH),
      reason: plainText(reason, MAX_REASON),
    })),
  };
}
