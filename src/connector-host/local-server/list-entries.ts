import { type JsonObject, MetaKey } from "../../protocol/index.js";
import { refuseParams, resultLine } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import { failedAnswer } from "./failed-answer.js";
import { legacyList, legacyTools, type ListMember, modernList } from "./list-result.js";
import type { LocalServerConfig } from "./options.js";
import type { EntryListing, OmittedConnector, ToolListing } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/** A list: the member of the result that holds it, and how it is read. */
export interface ListSource {
  readonly member: ListMember;
  readonly read: () => Promise<ToolListing | EntryListing>;
}

/**
 * Answers a list method with one page that holds everything. Connectors that are left out are named in `_meta`.
 * Source: 2026-07-28, Tools, Listing Tools, and alike for prompts, resources and templates; Pagination, Error Handling.
 */
export async function listEntries(
  config: LocalServerConfig,
  target: RequestTarget,
  { id, params, era }: AgentRequest,
  { member, read }: ListSource,
): Promise<Answer> {
  if ((params["cursor"] ?? undefined) !== undefined) {
    return refusedAnswer(refuseParams(id, "params.cursor is none of this server: its list has one page"));
  }
  target.deadline = config.clock.now() + config.listTimeoutMs;
  let reading: Promise<ToolListing | EntryListing> | undefined;
  try {
    reading = read();
    const listing = await reading;
    const definitions = definitionsOf(listing, era);
    const meta = omissions(config, listing);
    const text =
      era === "legacy"
        ? legacyList(member, definitions, meta)
        : modernList(member, definitions, { [MetaKey.serverInfo]: config.serverInfo, ...meta });
    return { status: 200, body: resultLine(id, Buffer.from(text, "utf8")) };
  } catch (error) {
    return failedAnswer(config, target, { id, era, error, promise: reading, deadlineOption: "listTimeoutMs" });
  }
}

function definitionsOf(listing: ToolListing | EntryListing, era: "modern" | "legacy"): readonly string[] {
  if ("entries" in listing) return listing.entries;
  return era === "legacy" ? legacyTools(listing.tools) : listing.tools.map(({ definition }) => definition);
}

function omissions(config: LocalServerConfig, listing: ToolListing | EntryListing): JsonObject {
  const stale = "stale" in listing ? listing.stale : undefined;
  return { ...named(config.omittedKey, listing.omitted), ...named(config.staleKey, stale) };
}

/** A member that names connectors; none when there are none. */
function named(key: string, connectors: readonly OmittedConnector[] = []): JsonObject {
  if (connectors.length === 0) return {};
  return { [key]: connectors.map(({ connectorKey, reason }) => ({ connectorKey, reason })) };
}
