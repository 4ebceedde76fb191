import { describe, expect, it } from "vitest";
import { RegistrationFactory } from "../../../../src/connector-host/device/index.js";
import type { RegistrationFactoryOptions } from "../../../../src/connector-host/device/registration-factory-options.js";

const clientInfo = { name: "test", version: "1" };

/** The option that a factory refuses, of what JavaScript may give. */
function refused(text: string): unknown {
  const options: RegistrationFactoryOptions = { clientInfo, ...JSON.parse(text) };
  try {
    void new RegistrationFactory(options);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the options of a registration factory", () => {
  it.each([
    ["an unknown one", '{"secret":{}}', "secret", "secrets"],
    ["an unknown one of servers", '{"http":{"totalTimeoutsMs":1}}', "totalTimeoutsMs", "totalTimeoutMs"],
    ["an unknown one of programs", '{"stdio":{"closeGrace":1}}', "closeGrace", "closeGraceMs"],
    ["a deadline that is none", '{"http":{"lifecycleTimeoutMs":0}}', "lifecycleTimeoutMs", undefined],
    ["what is no answer", '{"allowInsecureHttp":"yes"}', "allowInsecureHttp", undefined],
    ["what is no function", '{"authorize":true}', "authorize", undefined],
  ] as const)("H-8: %s is refused by its name", (_name, text, option, suggestion) => {
    expect(refused(text)).toMatchObject({
      code: "invalid_options",
      delivery: "not_sent",
      details: suggestion === undefined ? { option } : { option, suggestion },
    });
  });

  it("H-8: none but the host's name is needed", () => {
    expect(refused("{}")).toBeUndefined();
  });
});
