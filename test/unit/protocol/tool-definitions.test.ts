import { describe, expect, it } from "vitest";
import { isJsonObject, toolDefinitions, ToolListCheck } from "../../../src/protocol/index.js";

/** The definitions of what a check keeps of `message`, as text. */
function definitionsOf(message: string): ReadonlyMap<string, string> {
  const parsed: unknown = JSON.parse(message.replace(/^\ufeff/, ""));
  const result = isJsonObject(parsed) ? parsed["result"] : undefined;
  const list = isJsonObject(result) ? result["tools"] : undefined;
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  const { tools } = new ToolListCheck({ honoursHeaders: true }).page(entries);
  const definitions = toolDefinitions(Buffer.from(message), entries, tools);
  return new Map([...definitions].map(([name, text]) => [name, Buffer.from(text).toString("utf8")]));
}

const respond = (tools: string): string => `{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools}]}}`;

describe("toolDefinitions", () => {
  it("W-45: gives each tool's text as its server wrote it", () => {
    const one = '{ "name":"a", "inputSchema":{"maximum":12345678901234567890.10},\n"x":"]}" }';
    const other = '{"inputSchema":{},"name":"\\u0062","z":1,"a":2}';
    expect(definitionsOf(respond(` ${one} ,\t${other}`))).toEqual(
      new Map([
        ["a", one],
        ["b", other],
      ]),
    );
  });

  it("W-45: the places of what is left out do not shift those of the others", () => {
    const bad = ["null", "7", '"text"', "[]", "{}", '{"name":"x"}', '{"name":"x","inputSchema":{}}'];
    const good = '{"name":"good","inputSchema":{"n":1.0}}';
    const again = '{"name":"good","inputSchema":{"n":2.0}}';
    expect(definitionsOf(respond([...bad, good, ...bad, again].join(",")))).toEqual(new Map([["good", good]]));
  });

  it("W-32: a definition that the check mended is written anew", () => {
    const mended = '{"name":"a","title":null,"inputSchema":{"n":1.0},"description":7}';
    const kept = '{"name":"b","inputSchema":{"n":1.0}}';
    expect(definitionsOf(respond(`${mended},${kept}`))).toEqual(
      new Map([
        ["a", '{"name":"a","inputSchema":{"n":1}}'],
        ["b", kept],
      ]),
    );
  });

  it("W-45: reads the list that JSON.parse reads, behind a byte order mark too", () => {
    const tool = '{"name":"a","inputSchema":{"n":1.0}}';
    const twice = `\ufeff{"result":{"tools":[]},"result":{"tools":[null],"tools":[${tool}]}}`;
    expect(definitionsOf(twice)).toEqual(new Map([["a", tool]]));
  });

  it("W-45: without a list there are none", () => {
    expect(definitionsOf("{}")).toEqual(new Map());
    expect(definitionsOf('{"result":{"tools":{}}}')).toEqual(new Map());
    expect(definitionsOf(respond(""))).toEqual(new Map());
  });
});
