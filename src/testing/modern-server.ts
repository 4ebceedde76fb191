import { MODERN_REVISION } from "../protocol/index.js";
import { classifyModernRequest } from "../serving/index.js";
import { type Answer, answerMessage, answerStatus } from "./answer.js";
import { errorMessage } from "./message.js";
import type { ReceivedRequest } from "./received-request.js";
import type { Handler } from "./script.js";
import { answerMethod, SERVER_INFO, type ToolServerOptions } from "./tool-table.js";

/**
 * A handler that answers like a server of revision 2026-07-28: it discovers, lists and calls, and refuses every request
 * whose headers and `_meta` are not as the revision has them. Source: 2026-07-28, Streamable HTTP.
 */
export function likeModernServer(options: ToolServerOptions = {}): Handler {
  const capabilities = options.capabilities ?? { tools: {} };
  const cached = { ttlMs: 0, cacheScope: "private" };
  const discover = () => ({
    supportedVersions: [MODERN_REVISION],
    capabilities,
    ...cached,
    _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
  });
  return (request) => {
    if (request.verb !== "POST") return answerStatus(405, { headers: { Allow: "POST" } });
    const verdict = classifyModernRequest(fieldsOf(request), request.body, [MODERN_REVISION]);
    if (verdict.kind === "notification") return answerStatus(202);
    if (verdict.kind === "refused") return refusal(verdict);
    const isList = request.method?.endsWith("/list") === true;
    const members = { resultType: "complete", ...(isList ? cached : {}) };
    const methods = { "server/discover": discover };
    return answerMethod(options, { methods, members, unknownMethodStatus: 404 }, request);
  };
}

type Refused = Extract<ReturnType<typeof classifyModernRequest>, { readonly kind: "refused" }>;

function refusal({ status, error: { code, message, data } }: Refused): Answer {
  return answerMessage(errorMessage(code, message, { data }), { status });
}

function fieldsOf(request: ReceivedRequest): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of request.headers) {
    const key = name.toLowerCase();
    const before = fields[key];
    fields[key] = before === undefined ? value : `${before}, ${value}`;
  }
  return fields;
}
