import { describe, expect, it } from "vitest";
import type { ToolDirectory } from "../../../../src/connector-host/local-server/index.js";
import {
  acknowledgedFilter,
  readSubscriptionFilter,
} from "../../../../src/connector-host/local-server/subscription-filter.js";

const never = (): Promise<never> => Promise.reject(new Error("not asked"));
const TOOLS: ToolDirectory = { list: never, resolve: never, call: never };
const ALL: ToolDirectory = {
  ...TOOLS,
  prompts: { list: never, get: never },
  resources: { list: never, listTemplates: never, read: never, subscribe: never },
};
const ASKED = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ["b:", "a:", "b:"],
};

describe("H-21: the filter of a subscription", () => {
  it("is honoured as far as the directory goes", () => {
    expect(readSubscriptionFilter(ASKED, ALL)).toEqual({
      kind: "filter",
      lists: new Set(["tools", "prompts", "resources"]),
      uris: ["b:", "a:"],
    });
    expect(readSubscriptionFilter(ASKED, TOOLS)).toEqual({ kind: "filter", lists: new Set(["tools"]), uris: [] });
  });

  it.each([{}, { toolsListChanged: 1, promptsListChanged: false, resourceSubscriptions: null }, { foreign: true }])(
    "asks for nothing with %j",
    (filter) => {
      expect(readSubscriptionFilter(filter, ALL)).toEqual({ kind: "filter", lists: new Set(), uris: [] });
    },
  );

  it.each([undefined, null, [], "x", { resourceSubscriptions: "a:" }, { resourceSubscriptions: [1] }])(
    "is refused when it is %j",
    (filter) => {
      expect(readSubscriptionFilter(filter, ALL).kind).toBe("invalid");
    },
  );

  it("is acknowledged in the form in which it was asked for", () => {
    expect(acknowledgedFilter(new Set(["tools", "prompts", "resources"]), ["b:", "a:"])).toEqual({
      ...ASKED,
      resourceSubscriptions: ["b:", "a:"],
    });
    expect(acknowledgedFilter(new Set(), [])).toEqual({});
  });
});
