export { type LegacyStreamableHTTPClientOptions } from "./options.js";
export { LegacyStreamableHTTPClient } from "./streamable-http-client.js";
export { LegacySSEClient } from "./sse-client.js";
export { type LegacySSEClientOptions } from "./sse-options.js";
