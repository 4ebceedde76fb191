import type { HeaderFields } from "../../serving/index.js";
import type { AuthorizationEndpoint } from "./fault.js";

/** A request that the server received. Secrets are in it: it is for tests to look at. */
export interface AuthorizationServerRequest {
  readonly endpoint: AuthorizationEndpoint;
  readonly method: string;
  readonly path: string;
  /** Of the query, or of the form; the last of each name. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  /** Names in lower case. */
  readonly headers: HeaderFields;
  /** As text; empty for none. */
  readonly body: string;
}
