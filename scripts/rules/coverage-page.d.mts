import type { Group } from "./rule-book.mjs";

export function coveragePage(book: readonly Group[], citing: ReadonlyMap<string, readonly string[]>): string;
