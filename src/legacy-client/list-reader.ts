import { deliveryOf, isRemoteConnectorError } from "../errors.js";
import {
  checkListPage,
  cursorIn,
  type Diagnostic,
  entriesIn,
  type EntryList,
  type JsonObject,
  type ListKind,
  type ListParams,
  type RawListPage,
  toolEntries,
  type ToolList,
  ToolListCheck,
  walkEntries,
  walkTools,
  type WithDetail,
} from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import type { LegacyCallOptions, LegacyListAllToolsOptions } from "./call-options.js";
import type { ReceivedAnswer } from "./connection.js";
import { messageOf } from "./read-answer.js";
import type { RequestSender } from "./request-sender.js";

type DetailableOptions = LegacyCallOptions & Partial<WithDetail>;

/** One page, checked; the rest of the result is as it came. */
export function readPage<Entry>(
  sender: RequestSender,
  kind: ListKind<Entry>,
  params: ListParams,
  options: DetailableOptions,
): Promise<unknown> {
  const read = (result: JsonObject, received: ReceivedAnswer | undefined): JsonObject => {
    const page = checkListPage(kind, result);
    for (const diagnostic of page.diagnostics) received?.note(diagnostic);
    return page.result;
  };
  return sender.sendDetailed({ method: kind.method, params: pageParams(params), read }, options);
}

/** One page of tools, checked. */
export function readToolsPage(sender: RequestSender, params: ListParams, options: DetailableOptions): Promise<unknown> {
  return sender.sendDetailed({ method: "tools/list", params: pageParams(params), read: checkedTools }, options);
}

function checkedTools(result: JsonObject, received: ReceivedAnswer | undefined): JsonObject {
  const check = new ToolListCheck({ honoursHeaders: false });
  const { tools } = check.page(toolEntries(result));
  for (const diagnostic of check.diagnostics) received?.note(diagnostic);
  return { ...result, tools };
}

/** All pages in one walk. */
export function readAll<Entry>(
  sender: RequestSender,
  kind: ListKind<Entry>,
  options: LegacyCallOptions,
): Promise<EntryList<Entry>> {
  const source = new PageSource(sender, kind.method, (result) => entriesIn(kind, result), options);
  const walk = walkEntries(source.fetch, kind, { limits: sender.config.walk, stall: "ends" });
  return source.settle(walk, ({ entries, duplicates, diagnostics }, tolerated) => {
    for (const diagnostic of diagnostics) sender.connection.report(diagnostic);
    return { entries, duplicates, diagnostics: [...tolerated, ...diagnostics] };
  });
}

/** All pages of tools in one walk. */
export function readAllTools(
  sender: RequestSender,
  { definitions: keepsDefinitions, ...options }: LegacyListAllToolsOptions,
): Promise<ToolList> {
  const source = new PageSource(sender, "tools/list", toolEntries, options);
  const limits = sender.config.walk;
  const walk = walkTools(source.fetch, { limits, honoursHeaders: false, stall: "ends", keepsDefinitions });
  return source.settle(walk, ({ tools, check, definitions }, tolerated) => {
    for (const diagnostic of check.diagnostics) sender.connection.report(diagnostic);
    const { contracts, duplicates } = check;
    return { tools, contracts, duplicates, definitions, diagnostics: [...tolerated, ...check.diagnostics] };
  });
}

/** Gets the pages of one walk; the total deadline is that of the whole walk. */
class PageSource {
  readonly #sender: RequestSender;
  readonly #method: string;
  readonly #entriesOf: (result: JsonObject) => readonly unknown[];
  readonly #options: LegacyCallOptions;
  readonly #endsAt: number;
  readonly #tolerated: Diagnostic[] = [];
  #last: Promise<unknown> | undefined;

  constructor(
    sender: RequestSender,
    method: string,
    entriesOf: (result: JsonObject) => readonly unknown[],
    options: LegacyCallOptions,
  ) {
    const { clock, lifecycleDeadlines } = sender.config;
    this.#sender = sender;
    this.#method = method;
    this.#entriesOf = entriesOf;
    this.#options = options;
    this.#endsAt = clock.now() + (options.totalTimeoutMs ?? lifecycleDeadlines.totalTimeoutMs);
  }

  readonly fetch = (cursor: string | undefined): Promise<RawListPage> => {
    const read = (result: JsonObject, received: ReceivedAnswer | undefined): RawListPage => {
      this.#tolerated.push(...(received?.diagnostics ?? []));
      return {
        entries: this.#entriesOf(result),
        nextCursor: result["nextCursor"],
        message: messageOf(result, received),
      };
    };
    const request = { method: this.#method, params: pageParams({ cursor }), read, endsAt: this.#endsAt };
    // The walk is one call; its pages are not the caller's.
    const page = this.#sender.send(request, { ...this.#options, onSettled: undefined });
    this.#last = page;
    return page;
  };

  /** The walk's outcome as that of one call. The verdict on a caller's own reason is that of the last page. */
  settle<W, T>(walk: Promise<W>, shape: (walked: W, tolerated: readonly Diagnostic[]) => T): Promise<T> {
    const { onSettled, signal } = this.#options;
    const settlement = new Settlement<T>(typeof onSettled === "function" ? onSettled : undefined);
    walk.then(
      (walked) => settlement.resolve(shape(walked, this.#tolerated)),
      (reason: unknown) => {
        if (isRemoteConnectorError(reason) && reason !== signal?.reason) settlement.fail(reason);
        else settlement.abort(reason, deliveryOf(this.#last) ?? "not_sent");
      },
    );
    return settlement.promise;
  }
}

function pageParams(params: ListParams): JsonObject | undefined {
  const cursor = cursorIn(params);
  return cursor === undefined ? undefined : { cursor };
}
