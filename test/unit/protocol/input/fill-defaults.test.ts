import { describe, expect, it } from "vitest";
import { fillDefaults } from "../../../../src/protocol/input/fill-defaults.js";

describe("fillDefaults", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", default: "x" }, b: { type: "boolean", default: false }, c: { type: "string" } },
  };

  it("W-35: members left out get the default, given ones stay, also when they are falsy", () => {
    expect(fillDefaults(schema, {})).toEqual({ a: "x", b: false });
    expect(fillDefaults(schema, { a: "", b: undefined, c: "y" })).toEqual({ a: "", b: false, c: "y" });
  });

  it("W-35: the handler's object is not changed, and handed on when nothing is missing", () => {
    const content = Object.freeze({ a: "1", b: true });
    expect(fillDefaults(schema, content)).toBe(content);
    fillDefaults(schema, Object.freeze({}));
  });

  it("W-35: a member named __proto__ is a member like others", () => {
    const hostile: unknown = JSON.parse('{"properties":{"__proto__":{"type":"string","default":"p"}}}');
    const filled = fillDefaults(Object.assign({}, hostile), { a: 1 });
    expect(Object.keys(filled)).toEqual(["a", "__proto__"]);
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  });

  it("W-35: a schema without properties has no defaults", () => {
    expect(fillDefaults({ properties: null }, { a: 1 })).toEqual({ a: 1 });
  });
});
