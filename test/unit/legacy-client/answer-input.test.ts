import { describe, expect, it, vi } from "vitest";
import { inputAnswerer } from "../../../src/legacy-client/answer-input.js";
import type { ServerRequestAnswer } from "../../../src/legacy-client/server-requests.js";
import type { InputHandlers } from "../../../src/protocol/input/index.js";
import type { Diagnostic } from "../../../src/protocol/index.js";
import { createInterpretingValidator } from "../../../src/protocol/json-schema/index.js";

const SERVER = { name: "server", version: "1" };
const accept = (content: object = {}) => ({ action: "accept", content: { ...content } }) as const;

interface Asked {
  readonly answer: ServerRequestAnswer;
  readonly diagnostics: readonly Diagnostic[];
}

async function ask(handlers: InputHandlers, method: string, params?: object): Promise<Asked> {
  const diagnostics: Diagnostic[] = [];
  const answerer = inputAnswerer({
    handlers,
    loadValidator: () => Promise.resolve(createInterpretingValidator()),
    origin: "https://a.example",
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
  });
  if (answerer === undefined) throw new Error("There is no answerer.");
  const { signal } = new AbortController();
  return { answer: await answerer({ id: 1, method, params }, { signal, serverInfo: SERVER }), diagnostics };
}

function form(properties: object, required: readonly string[] = []): object {
  return { message: "Fill in.", requestedSchema: { type: "object", properties, required } };
}

describe("L-6 what a server asks of a legacy client", () => {
  it("has no answerer without handlers", () => {
    const loadValidator = (): never => {
      throw new Error("Nothing is loaded.");
    };
    const rest = { loadValidator, origin: "https://a.example", onDiagnostic: vi.fn() };
    expect(inputAnswerer({ handlers: {}, ...rest })).toBeUndefined();
    expect(inputAnswerer({ handlers: { elicitation: {} }, ...rest })).toBeUndefined();
  });

  it("answers a form, completed and checked, and says who asks", async () => {
    const asked = vi.fn(() => accept({ name: "Ada" }));
    const properties = { name: { type: "string" }, age: { type: "integer", default: 30 } };
    const { answer } = await ask({ elicitation: { form: asked } }, "elicitation/create", form(properties));
    expect(answer).toEqual({ result: { action: "accept", content: { name: "Ada", age: 30 } } });
    expect(asked).toHaveBeenCalledWith(
      expect.objectContaining({ mode: "form", message: "Fill in." }),
      expect.objectContaining({ server: { origin: "https://a.example", info: SERVER } }),
    );
  });

  it.each<[string, object, object, boolean]>([
    ["an untitled enum", { size: { type: "string", enum: ["s", "m"] } }, { size: "m" }, true],
    ["an untitled enum's stranger", { size: { type: "string", enum: ["s", "m"] } }, { size: "xl" }, false],
    ["an enum with enumNames", { size: { type: "string", enum: ["s"], enumNames: ["Small"] } }, { size: "s" }, true],
    ["a titled enum", { size: { type: "string", oneOf: [{ const: "s", title: "Small" }] } }, { size: "s" }, true],
    [
      "a titled enum's title",
      { size: { type: "string", oneOf: [{ const: "s", title: "Small" }] } },
      { size: "Small" },
      false,
    ],
    [
      "several of many",
      { sizes: { type: "array", items: { type: "string", enum: ["s", "m"] }, minItems: 2 } },
      { sizes: ["s", "m"] },
      true,
    ],
    [
      "too few of many",
      { sizes: { type: "array", items: { type: "string", enum: ["s", "m"] }, minItems: 2 } },
      { sizes: ["s"] },
      false,
    ],
    [
      "several titled ones",
      { sizes: { type: "array", items: { anyOf: [{ const: "s", title: "Small" }] } } },
      { sizes: ["s"] },
      true,
    ],
    [
      "a stranger among titled ones",
      { sizes: { type: "array", items: { anyOf: [{ const: "s", title: "Small" }] } } },
      { sizes: ["x"] },
      false,
    ],
    ["a number in place of an integer", { age: { type: "integer" } }, { age: 1.5 }, false],
  ])("2025-11-25 takes or refuses %s before anything is sent", async (_, properties, content, isValid) => {
    const handlers = { elicitation: { form: () => accept(content) } };
    const { answer, diagnostics } = await ask(handlers, "elicitation/create", form(properties));
    if (isValid) expect(answer).toEqual({ result: { action: "accept", content } });
    else expect(answer).toEqual({ error: { code: -32603, message: "No answer could be given." } });
    expect(diagnostics.map(({ kind }) => kind)).toEqual(isValid ? [] : ["handler_failed"]);
  });

  it("fills in defaults of every kind", async () => {
    const properties = {
      name: { type: "string", default: "Ada" },
      score: { type: "number", default: 1.5 },
      ok: { type: "boolean", default: false },
      size: { type: "string", enum: ["s", "m"], default: "m" },
      sizes: { type: "array", items: { type: "string", enum: ["s", "m"] }, default: ["s"] },
    };
    const { answer } = await ask({ elicitation: { form: () => accept() } }, "elicitation/create", form(properties));
    const content = { name: "Ada", score: 1.5, ok: false, size: "m", sizes: ["s"] };
    expect(answer).toEqual({ result: { action: "accept", content } });
  });

  it.each(["decline", "cancel"] as const)("hands %s on without content", async (action) => {
    const { answer } = await ask({ elicitation: { form: () => ({ action }) } }, "elicitation/create", form({}));
    expect(answer).toEqual({ result: { action } });
  });

  it("refuses a mode that was not declared", async () => {
    const params = { mode: "url", message: "Visit.", url: "https://a.example/pay", elicitationId: "1" };
    const { answer } = await ask({ elicitation: { form: () => accept() } }, "elicitation/create", params);
    expect(answer).toMatchObject({ error: { code: -32602 } });
  });

  it("answers a visit, and refuses one to an address that nobody should be sent to", async () => {
    const handlers = { elicitation: { url: () => ({ action: "accept" }) as const } };
    const params = { mode: "url", message: "Visit.", url: "https://a.example/pay", elicitationId: "1" };
    expect((await ask(handlers, "elicitation/create", params)).answer).toEqual({ result: { action: "accept" } });
    const odd = { ...params, url: "javascript:alert(1)" };
    expect((await ask(handlers, "elicitation/create", odd)).answer).toMatchObject({ error: { code: -32602 } });
  });

  it("samples, and says so when the handler refuses", async () => {
    const params = { messages: [], maxTokens: 10 };
    const result = { role: "assistant", content: { type: "text", text: "yes" }, model: "m" };
    const willing = { sampling: { createMessage: () => result } };
    expect((await ask(willing, "sampling/createMessage", params)).answer).toEqual({ result });
    const unwilling = {
      sampling: {
        createMessage: () => {
          throw new Error("no");
        },
      },
    };
    const { answer } = await ask(unwilling, "sampling/createMessage", params);
    expect(answer).toEqual({ error: { code: -1, message: "The sampling request was refused." } });
  });

  it("refuses sampling with tools that were not declared", async () => {
    const params = { messages: [], maxTokens: 10, tools: [] };
    const { answer } = await ask({ sampling: { createMessage: () => ({}) } }, "sampling/createMessage", params);
    expect(answer).toMatchObject({ error: { code: -32602 } });
  });

  it("tells the roots", async () => {
    const { answer } = await ask({ roots: () => [{ uri: "file:///home" }] }, "roots/list");
    expect(answer).toEqual({ result: { roots: [{ uri: "file:///home" }] } });
  });

  it.each(["roots/list", "sampling/createMessage", "tasks/get", "x"])("doesn't know %s", async (method) => {
    const { answer } = await ask({ elicitation: { form: () => accept() } }, method, {});
    expect(answer).toMatchObject({ error: { code: -32601 } });
  });

  it("reports a handler that throws, without what it says", async () => {
    const form_ = (): never => {
      throw new Error("secret");
    };
    const { answer, diagnostics } = await ask({ elicitation: { form: form_ } }, "elicitation/create", form({}));
    expect(answer).toMatchObject({ error: { code: -32603 } });
    expect(diagnostics).toHaveLength(1);
    expect(JSON.stringify([answer, diagnostics])).not.toContain("secret");
  });
});
