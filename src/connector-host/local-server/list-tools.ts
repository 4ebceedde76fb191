import { type JsonObject, MetaKey, type RequestId } from "../../protocol/index.js";
import { refuseParams, resultLine } from "../../serving/index.js";
import type { Answer, Exchange } from "./exchange.js";
import { failedAnswer } from "./failed-answer.js";
import type { LocalServerConfig } from "./options.js";
import type { ToolListing } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import { legacyToolList, modernToolList } from "./tool-list-result.js";

/** A `tools/list` of either era. */
export interface ToolListRequest {
  readonly id: RequestId;
  readonly params: JsonObject;
  readonly era: "modern" | "legacy";
}

/**
 * Answers a `tools/list` with one page that holds everything. Connectors that are left out are named in `_meta`.
 * Source: 2026-07-28, Tools, Listing Tools; Pagination, Error Handling.
 */
export async function listTools(
  config: LocalServerConfig,
  exchange: Exchange,
  request: ToolListRequest,
): Promise<Answer> {
  const { id, params, era } = request;
  if ((params["cursor"] ?? undefined) !== undefined) {
    return refusedAnswer(refuseParams(id, "params.cursor is none of this server: its list has one page"));
  }
  exchange.deadline = config.clock.now() + config.listTimeoutMs;
  let listing: Promise<ToolListing> | undefined;
  try {
    listing = config.directory.list(exchange.binding, exchange.signal);
    const { tools, omitted } = await listing;
    const left = omitted.map(({ connectorKey, reason }) => ({ connectorKey, reason }));
    const meta = left.length === 0 ? {} : { [config.omittedKey]: left };
    const text =
      era === "legacy"
        ? legacyToolList(tools, meta)
        : modernToolList(tools, { [MetaKey.serverInfo]: config.serverInfo, ...meta });
    return { status: 200, body: resultLine(id, Buffer.from(text, "utf8")) };
  } catch (error) {
    return failedAnswer(config, exchange, { id, error, promise: listing, deadlineOption: "listTimeoutMs" });
  }
}
