import { describe, expect, it } from "vitest";
import { SessionSetup } from "../../../../src/legacy-client/http/session-setup.js";

describe("SessionSetup", () => {
  it("L-3: knows the subscriptions and the log level as they were last set", () => {
    const setup = new SessionSetup();
    expect(setup.requests()).toEqual([]);
    setup.remember("resources/subscribe", { uri: "" });
    setup.remember("resources/subscribe", { uri: "a:1" });
    setup.remember("resources/subscribe", { uri: "a:1" });
    setup.remember("resources/subscribe", { uri: "a:2" });
    setup.remember("resources/unsubscribe", { uri: "a:2" });
    setup.remember("resources/read", { uri: "a:3" });
    setup.remember("logging/setLevel", { level: "debug" });
    setup.remember("logging/setLevel", { level: "error" });
    expect(setup.requests()).toEqual([
      { method: "logging/setLevel", params: { level: "error" } },
      { method: "resources/subscribe", params: { uri: "" } },
      { method: "resources/subscribe", params: { uri: "a:1" } },
    ]);
  });
});
