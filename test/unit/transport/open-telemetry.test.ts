import { afterEach, describe, expect, it } from "vitest";
import { OpenTelemetryFinder } from "../../../src/transport/open-telemetry.js";

const REGISTRY = Symbol.for("opentelemetry.js.api.1");
const before = Object.getOwnPropertyDescriptor(globalThis, REGISTRY);

/** As the API does it when something of these kinds is registered. */
function register(...kinds: string[]): void {
  const value = Object.fromEntries(kinds.map((kind) => [kind, {}]));
  Object.defineProperty(globalThis, REGISTRY, { value, configurable: true, writable: true });
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, REGISTRY);
  if (before !== undefined) Object.defineProperty(globalThis, REGISTRY, before);
});

function countingFinder(load: () => undefined) {
  let loads = 0;
  const finder = new OpenTelemetryFinder(() => {
    loads += 1;
    return load();
  });
  return { finder, loads: () => loads };
}

describe("F-19: finding OpenTelemetry", () => {
  it("F-19: nothing is looked up while no provider of tracers is registered, and later it is", () => {
    Reflect.deleteProperty(globalThis, REGISTRY);
    const { finder, loads } = countingFinder(() => undefined);
    expect(finder.find()).toBeUndefined();
    register("context", "propagation");
    expect(finder.find()).toBeUndefined();
    expect(loads()).toBe(0);
    register("trace");
    expect(finder.find()).toBeUndefined();
    expect(loads()).toBe(1);
  });

  it("F-19: a package that can't be had is looked up once", () => {
    register("trace");
    const { finder, loads } = countingFinder(() => undefined);
    for (let i = 0; i < 3; i += 1) expect(finder.find()).toBeUndefined();
    expect(loads()).toBe(1);
  });

  it("F-19: one that can't be loaded is warned of once, and throws nothing", async () => {
    register("trace");
    const warned: string[] = [];
    const listen = ({ name }: Error): void => void warned.push(name);
    process.on("warning", listen);
    const { finder } = countingFinder(() => {
      throw new Error("broken");
    });
    for (let i = 0; i < 3; i += 1) expect(finder.find()).toBeUndefined();
    await new Promise(setImmediate);
    process.off("warning", listen);
    expect(warned).toEqual(["RemoteConnectorWarning"]);
  });

  it("F-19: the package that is here is loaded, and what it gives is handed out until the provider goes", () => {
    register("trace");
    const finder = new OpenTelemetryFinder();
    const found = finder.find();
    expect(found?.SpanKind.CLIENT).toBe(2);
    expect(finder.find()).toBe(found);
    Reflect.deleteProperty(globalThis, REGISTRY);
    expect(finder.find()).toBeUndefined();
  });
});
