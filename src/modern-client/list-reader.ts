import {
  EntryCheck,
  type EntryList,
  type EntryRules,
  type Gathering,
  invalidAnswer,
  type JsonObject,
  ListWalk,
  PROMPT_RULES,
  type Prompt,
  type RawListPage,
  RESOURCE_RULES,
  type Resource,
  type ResourceTemplate,
  TEMPLATE_RULES,
  walkList,
} from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions } from "./call-options.js";
import { PageSource, settleFailedWalk } from "./page-source.js";
import { type DetailableOptions, rejected, type RequestStarter } from "./request-starter.js";

/** A list that servers have: how it is asked for, where its entries are, and what they must be. */
export interface ListSpec<Entry> {
  readonly method: string;
  readonly member: string;
  readonly rules: EntryRules<Entry>;
}

export const RESOURCES: ListSpec<Resource> = {
  method: "resources/list",
  member: "resources",
  rules: RESOURCE_RULES,
};

export const TEMPLATES: ListSpec<ResourceTemplate> = {
  method: "resources/templates/list",
  member: "resourceTemplates",
  rules: TEMPLATE_RULES,
};

export const PROMPTS: ListSpec<Prompt> = { method: "prompts/list", member: "prompts", rules: PROMPT_RULES };

/** One page, checked; the rest of the result is as it came. */
export function readPage<Entry>(
  starter: RequestStarter,
  { method, member, rules }: ListSpec<Entry>,
  cursor: string | undefined,
  options: DetailableOptions,
): Promise<unknown> {
  return starter.callSoonOver(method, cursor === undefined ? {} : { cursor }, options, (result, outcome) => {
    const check = new EntryCheck(rules);
    const { entries } = check.page(entriesIn(result, method, member));
    starter.report(check.diagnostics, outcome);
    return { ...result, [member]: entries };
  });
}

/** All pages in one walk. */
export function readAll<Entry>(
  starter: RequestStarter,
  { method, member, rules }: ListSpec<Entry>,
  options: CallOptions,
): Promise<EntryList<Entry>> {
  try {
    checkCallOptions(options);
  } catch (error) {
    return rejected(error, options);
  }
  const settlement = new Settlement<EntryList<Entry>>(options.onSettled);
  const source = new PageSource(starter, method, (result) => entriesIn(result, method, member), options);
  const { walk: limits, onDiagnostic } = starter.config;
  walkList(
    (cursor) => source.fetch(cursor),
    () => new EntryGathering(rules),
    { method, limits },
  ).then(
    ({ entries, duplicates, diagnostics }) => {
      for (const diagnostic of diagnostics) onDiagnostic(diagnostic);
      settlement.resolve({ entries, duplicates, diagnostics });
    },
    (reason: unknown) => settleFailedWalk(settlement, reason, source),
  );
  return settlement.promise;
}

/**
 * Page after page, each asked for when the one before was taken. A refused cursor ends it: what was handed out can't be
 * taken back.
 */
export async function* readPages<Entry>(
  starter: RequestStarter,
  { method, member, rules }: ListSpec<Entry>,
  options: CallOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  checkCallOptions(options);
  const { walk: limits, onDiagnostic } = starter.config;
  const source = new PageSource(starter, method, (result) => entriesIn(result, method, member), options);
  const walk = new ListWalk(method, limits);
  const check = new EntryCheck(rules);
  let cursor: string | undefined;
  do {
    const page = await source.fetch(cursor);
    walk.received(page.entries.length, page.message.length);
    const reported = check.diagnostics.length;
    const { entries, fresh } = check.page(page.entries);
    for (const diagnostic of check.diagnostics.slice(reported)) onDiagnostic(diagnostic);
    yield entries;
    source.beginAnew();
    cursor = walk.next(fresh, page.nextCursor);
  } while (cursor !== undefined);
}

class EntryGathering<Entry> implements Gathering, EntryList<Entry> {
  readonly entries: Entry[] = [];
  readonly #check: EntryCheck<Entry>;

  constructor(rules: EntryRules<Entry>) {
    this.#check = new EntryCheck(rules);
  }

  get diagnostics() {
    return this.#check.diagnostics;
  }

  get duplicates() {
    return this.#check.duplicates;
  }

  take({ entries }: RawListPage): number {
    const page = this.#check.page(entries);
    for (const entry of page.entries) this.entries.push(entry);
    return page.fresh;
  }
}

function entriesIn(result: JsonObject, method: string, member: string): readonly unknown[] {
  const entries = result[member];
  if (Array.isArray(entries)) return entries;
  throw invalidAnswer(`${method} without a list of ${member}`);
}
