import { describe, expect, it } from "vitest";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";

const given = { endpoint: "http://127.0.0.1:9/mcp", clientInfo: false, tasks: true } as const;
const wrong = JSON.parse("null");

describe("arguments of a wrong type", () => {
  const client = new ModernStreamableHTTPClient(given);
  const methods: Readonly<Record<string, (() => Promise<unknown>) | undefined>> = {
    callTool: () => client.callTool(wrong),
    cancelTask: () => client.cancelTask(wrong),
    complete: () => client.complete(wrong),
    "complete without ref": () => client.complete({ ref: wrong, argument: { name: "a", value: "" } }),
    getPrompt: () => client.getPrompt(wrong),
    getTask: () => client.getTask(wrong),
    notify: () => client.notify(wrong),
    "notify with params": () => client.notify("a/b", wrong),
    readResource: () => client.readResource(wrong),
    request: () => client.request(wrong),
    "request with params": () => client.request("a/b", wrong),
    resumeTask: () => client.resumeTask(wrong),
    updateTask: () => client.updateTask(wrong),
  };

  it.each(Object.keys(methods))("F-2: %s rejects, and throws nothing", async (name) => {
    const call = methods[name]?.();
    await expect(call).rejects.toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
  });

  const optioned: Readonly<Record<string, (() => Promise<unknown>) | undefined>> = {
    callTool: () => client.callTool({ name: "a" }, wrong),
    discover: () => client.discover(wrong),
    getTask: () => client.getTask({ taskId: "a" }, wrong),
    listAllPrompts: () => client.listAllPrompts(wrong),
    listAllTools: () => client.listAllTools(wrong),
    listTools: () => client.listTools({}, wrong),
    notify: () => client.notify("a/b", {}, wrong),
    readResource: () => client.readResource({ uri: "a:b" }, wrong),
    request: () => client.request("a/b", {}, wrong),
    resourcePages: () => client.resourcePages(wrong).next(),
    resumeTask: () => client.resumeTask({ taskId: "a" }, wrong),
    taskOnAbort: () => client.callTool({ name: "a" }, JSON.parse('{"taskOnAbort":"maybe"}')),
    cache: () => client.listTools({}, JSON.parse('{"cache":"never"}')),
    updateTask: () => client.updateTask({ taskId: "a", inputResponses: {} }, wrong),
  };

  it.each(Object.keys(optioned))("F-2: %s with options that are none rejects", async (name) => {
    const call = optioned[name]?.();
    await expect(call).rejects.toMatchObject({ code: "invalid_options", delivery: "not_sent" });
  });

  it.each([
    { authorize: "token" },
    { ca: 1 },
    { ca: null },
    { clientCertificate: null },
    { lookup: "dns" },
    { onDiagnostic: {} },
    { proxy: null },
    { proxy: "http://127.0.0.1:1" },
    { random: 0.5 },
    { wallNow: 0 },
  ])("F-2: %j is refused when a client is made", (options) => {
    const [option] = Object.keys(options);
    const details = expect.objectContaining({ option });
    expect(() => new ModernStreamableHTTPClient({ ...given, ...(options as object) })).toThrow(
      expect.objectContaining({ code: "invalid_options", details }),
    );
  });
});
