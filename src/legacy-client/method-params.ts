import type { JsonObject } from "../protocol/index.js";

/** Which page of a list: the `nextCursor` of the page before. `""` is a cursor; `null` and absent ask for the first page. */
export interface ListParams {
  readonly cursor?: string | null | undefined;
}

export interface ResourceParams {
  readonly uri: string;
}

export interface PromptParams {
  readonly name: string;
  /** The prompt's arguments: strings, by name. */
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** What is to be completed. Source: 2025-11-25, Completion, Requesting Completions. */
export interface CompletionParams {
  /** `{ type: "ref/prompt", name }` or `{ type: "ref/resource", uri }`. */
  readonly ref: JsonObject;
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that are known already. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}
