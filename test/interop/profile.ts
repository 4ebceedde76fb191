import type { Column } from "./column.js";
import type { Call } from "./subject.js";

/** What is expected of a server. What is left out it has not; {@link lacks} has to say so as well. */
export interface Profile {
  /** Tools that it lists, maybe with others. */
  readonly tools: readonly string[];
  readonly resources?: readonly string[] | undefined;
  readonly prompts?: readonly string[] | undefined;
  /** A call and a piece of what its result holds, as JSON. */
  readonly call: { readonly call: Call; readonly has: string };
  readonly progress?: { readonly call: Call; readonly values: readonly number[] } | undefined;
  /** A tool that waits until it is given up, and one that tells what became of that. Both take a key. */
  readonly cancel?: { readonly wait: string; readonly seen: string } | undefined;
  readonly read?: { readonly uri: string; readonly has: string } | undefined;
  /** A resource, and the call that changes it. */
  readonly notify?: { readonly uri: string; readonly touch: Call } | undefined;
  /** A tool that asks for a name. */
  readonly elicit?: { readonly call: Call; readonly has: string } | undefined;
  /** Columns that must turn out to be beyond the server: what is not here and can't be done fails, and so does the reverse. */
  readonly lacks: readonly Column[];
}

const NOTE = "demo://note";

/** The programs `interop-sdk-server` and `interop-server`, which have something for every column. */
export const OWN: Profile = {
  tools: ["ask", "count", "echo", "roots", "sample", "seen", "touch", "visit", "wait"],
  resources: [NOTE],
  prompts: ["greet"],
  call: { call: { name: "echo", arguments: { text: "otters, ö and 😀" } }, has: "otters, ö and 😀" },
  progress: { call: { name: "count", arguments: { to: 5 } }, values: [1, 2, 3, 4, 5] },
  cancel: { wait: "wait", seen: "seen" },
  read: { uri: NOTE, has: "a note" },
  notify: { uri: NOTE, touch: { name: "touch" } },
  elicit: { call: { name: "ask" }, has: "Hello, Ada" },
  lacks: [],
};

/** Those programs where a server lives for one request: it can't ask, nor tell of changes. */
export const OWN_STATELESS: Profile = {
  ...OWN,
  tools: ["count", "echo", "seen", "wait"],
  lacks: ["notify", "elicit"],
};

/** `interop-sdk-server json`: an answer of one JSON message has no room for progress. */
export const OWN_JSON: Profile = {
  ...OWN,
  tools: ["ask", "echo", "roots", "sample", "seen", "touch", "visit", "wait"],
  lacks: ["progress"],
};

const DOCUMENT = "demo://resource/static/document/features.md";

export const EVERYTHING: Profile = {
  tools: ["echo", "get-sum", "trigger-long-running-operation", "toggle-subscriber-updates"],
  resources: [DOCUMENT],
  prompts: ["simple-prompt"],
  call: { call: { name: "get-sum", arguments: { a: 2, b: 3 } }, has: "The sum of 2 and 3 is 5." },
  progress: {
    call: { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 4 } },
    values: [1, 2, 3, 4],
  },
  read: { uri: DOCUMENT, has: "Everything Server" },
  notify: { uri: DOCUMENT, touch: { name: "toggle-subscriber-updates" } },
  elicit: { call: { name: "trigger-elicitation-request" }, has: "Ada" },
  lacks: ["cancel"],
};

const GRAPH = "memory://knowledge-graph";

/** With {@link MEMORY_LINE} in its file. */
export const MEMORY: Profile = {
  tools: ["create_entities", "read_graph"],
  resources: [GRAPH],
  call: { call: { name: "read_graph" }, has: "swims" },
  read: { uri: GRAPH, has: "swims" },
  notify: { uri: GRAPH, touch: { name: "create_entities", arguments: { entities: [] } } },
  lacks: ["prompts", "progress", "cancel", "elicit"],
};

export const MEMORY_LINE = JSON.stringify({
  type: "entity",
  name: "Otter",
  entityType: "animal",
  observations: ["swims"],
});

/** `file` is in the folder that the server may read. */
export function filesystem(file: string, has: string): Profile {
  return {
    tools: ["list_directory", "read_text_file"],
    call: { call: { name: "read_text_file", arguments: { path: file } }, has },
    lacks: ["resources", "prompts", "progress", "cancel", "read", "notify", "elicit"],
  };
}
