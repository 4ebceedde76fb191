import { describe, expect, it } from "vitest";
import {
  parseRegistration,
  readRegistration,
  replaceSettings,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { storedRegistration } from "./registration.fixture.js";

describe("H-3: the file of a registration", () => {
  it("is never larger than what is read again: a registration that would make it so is refused", () => {
    // The members that the spaces of the file make larger than any other does.
    const properties = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [String(i), ""]));
    const tools = Object.fromEntries(Array.from({ length: 1_850 }, (_, i) => [String(i), { properties }]));
    const largest = parseRegistration(storedRegistration({ descriptions: tools }));
    expect(JSON.stringify(largest).length).toBeGreaterThan(4_100_000);
    const text = writeRegistration(largest);
    expect(writeRegistration(readRegistration(text))).toBe(text);
    const headers = Object.fromEntries(
      Array.from({ length: 64 }, (_, i) => [`x-${String(i)}`, Array.from({ length: 16 }, () => "x".repeat(32_768))]),
    );
    const settings = { endpoint: "https://docs.example/", headers };
    expect(refusedMember(() => parseRegistration(storedRegistration({ settings })))).toBe("");
    expect(refusedMember(() => replaceSettings(parseRegistration(storedRegistration()), settings))).toBe("");
  });
});
