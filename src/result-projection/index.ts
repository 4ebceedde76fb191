export { type FailureOptions, type ProjectedFailure, projectFailure } from "./project-failure.js";
export { type ProjectedPart, type ProjectedResult, projectToolResult } from "./project-tool-result.js";
export type { ProjectionOptions } from "./projection-options.js";
export type { ReferredContent, ReferSink } from "./referred-content.js";
