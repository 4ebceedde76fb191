import type { ForwardedRequest } from "../local-server/index.js";

type OnProgress = ForwardedRequest["onProgress"];

/**
 * A listener for several requests that are one to the agent: each of them counts anew, and what the agent is told must increase.
 * Source: 2025-11-25, Progress, Behavior Requirements.
 */
export function increasingProgress(onProgress: OnProgress): OnProgress {
  if (onProgress === undefined) return undefined;
  let highest = -Infinity;
  return (told) => {
    if (told.progress <= highest) return;
    highest = told.progress;
    onProgress(told);
  };
}
