export { type BindingRequest } from "./bindings.js";
export {
  type AgentCounts,
  type BoundAgent,
  createLocalServer,
  type DurableAgent,
  type LocalServer,
} from "./create-local-server.js";
export {
  type DurableBinding,
  type DurableBindingRequest,
  type DurableBindingRow,
  type DurableBindingRows,
} from "./durable-bindings.js";
export { type ListKind } from "./listeners.js";
export { type LocalServerOptions } from "./options.js";
export {
  type AgentInput,
  type Binding,
  type BoundLogin,
  type CompletionRequest,
  type Continuation,
  type EntryListing,
  type ExposedTool,
  type ForwardedRequest,
  type Invocation,
  type OmittedConnector,
  type PromptDirectory,
  type PromptRequest,
  type ResolvedTool,
  type ResourceDirectory,
  type ResourceRequest,
  type ResourceWatch,
  type UnmadeRequest,
  type UpstreamAnswer,
  type ToolCall,
  type ToolDirectory,
  type ToolListing,
} from "./ports.js";
