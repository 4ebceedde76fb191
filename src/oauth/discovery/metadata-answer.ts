import { isJsonObject, type JsonObject, parseJson } from "../../protocol/index.js";
import { bodyText } from "../../transport/index.js";
import type { OAuthAnswer } from "../requester.js";

/** What an answer is to a search for metadata. */
export type MetadataAnswer =
  | { readonly kind: "document"; readonly document: JsonObject }
  /** There is none here: the next place is asked. `refused`: by a status of 4xx; otherwise a page for people is in its place. */
  | { readonly kind: "absent"; readonly refused: boolean }
  /** It says that it is a document, and is none. */
  | { readonly kind: "broken" }
  /** Nobody can tell: the search stops. */
  | { readonly kind: "failed" };

/**
 * Reads an answer. Pure and total.
 *
 * - Any 4xx: absent. 5xx, and 3xx that lead nowhere: failed.
 * - 2xx as `application/json` or with `+json`: a document when it is a JSON object, broken otherwise.
 * - 2xx as HTML: absent, whatever is in it. Web applications answer so to every path that they do not know.
 * - 2xx of any other type, or of none: a document when it is a JSON object, since servers that serve files say `text/plain` or
 *   `application/octet-stream`; absent otherwise.
 */
export function classifyMetadataAnswer({ status, mediaType, body }: OAuthAnswer): MetadataAnswer {
  if (status >= 400 && status < 500) return { kind: "absent", refused: true };
  if (status < 200 || status >= 300) return { kind: "failed" };
  if (mediaType === "text/html" || mediaType === "application/xhtml+xml") return { kind: "absent", refused: false };
  const document = parseJson(bodyText(body));
  if (isJsonObject(document)) return { kind: "document", document };
  const isMeant = mediaType === "application/json" || mediaType.endsWith("+json");
  return isMeant ? { kind: "broken" } : { kind: "absent", refused: false };
}
