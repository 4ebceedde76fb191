export { type BindingRequest } from "./bindings.js";
export { type BoundAgent, createLocalServer, type LocalServer } from "./create-local-server.js";
export { type LocalServerOptions } from "./options.js";
export {
  type Binding,
  type BoundLogin,
  type ExposedTool,
  type Invocation,
  type OmittedConnector,
  type ResolvedTool,
  type UpstreamAnswer,
  type ToolCall,
  type ToolDirectory,
  type ToolListing,
} from "./ports.js";
