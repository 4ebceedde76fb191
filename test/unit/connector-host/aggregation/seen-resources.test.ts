import { expect, it } from "vitest";
import { seenResources } from "../../../../src/connector-host/aggregation/seen-resources.js";

it.each([
  [
    "a tool's links",
    {
      content: [
        { type: "resource_link", uri: "x:1" },
        { type: "text", uri: "x:2" },
      ],
    },
    ["x:1"],
  ],
  ["what a tool embeds", { content: [{ type: "resource", resource: { uri: "x:1", text: "" } }] }, ["x:1"]],
  [
    "a prompt's message",
    { messages: [{ role: "user", content: { type: "resource", resource: { uri: "x:1" } } }] },
    ["x:1"],
  ],
  ["several blocks of one", { messages: [{ content: [{ type: "resource_link", uri: "" }, null] }] }, [""]],
  ["a resource's parts", { contents: [{ uri: "x:1" }, { uri: "x:1/a", text: "" }] }, ["x:1", "x:1/a"]],
  ["nothing in odd results", { content: "x", messages: [null, 1, { content: 2 }], contents: { uri: "x:1" } }, []],
  ["nothing in odd blocks", { content: [null, "x", { type: "resource_link" }, { type: "resource", resource: 1 }] }, []],
])("H-28: sees %s", (_what, result, uris) => {
  expect([...seenResources(result)]).toEqual(uris);
});
