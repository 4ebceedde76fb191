import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { parseOAuthUrl } from "../../../../src/oauth/requests/index.js";

const REFUSED = [
  "",
  "/relative",
  "as.test/token",
  "http://as.test/token",
  "http://127.0.0.1.as.test/",
  "http://10.0.0.1/",
  "http://169.254.169.254/latest",
  "javascript:alert(1)",
  "JavaScript://as.test/%0aalert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "blob:https://as.test/1",
  "ftp://as.test/",
  "ws://as.test/",
  "vbscript:x",
  "https://user@as.test/",
  "https://:secret@as.test/",
  "https://as.test/#fragment",
  "https://",
];

describe("parseOAuthUrl", () => {
  it.each(["https://as.test/token?x=1", "HTTPS://AS.test:8443/", "https://[2001:db8::1]/", "https://10.0.0.1/"])(
    "A-11: takes %s, whatever its address: that is the guard's",
    (text) => {
      for (const loopback of [true, false]) expect(parseOAuthUrl(text, { loopback }).href).toBe(new URL(text).href);
    },
  );

  it.each(REFUSED)("A-11: refuses %j, on loopback and elsewhere", (text) => {
    for (const loopback of [true, false]) expect(codeOf(text, loopback)).toBe("invalid_url");
  });

  it.each([
    "http://localhost:3000/token",
    "http://127.0.0.1:3000/",
    "http://127.1/",
    "http://[::1]:3000/",
    "https://localhost/",
    "https://127.0.0.2/",
    "https://2130706433/",
  ])("A-11: takes %s only for an endpoint on loopback", (text) => {
    expect(parseOAuthUrl(text, { loopback: true }).href).toBe(new URL(text).href);
    expect(codeOf(text, false)).toBe("invalid_url");
  });

  it("A-11: shows no password and no value of a query", () => {
    for (const text of [
      "http://u:secret@h.test/?k=secret",
      "https://u:secret@h.test/?k=secret#secret",
      "https://localhost/?k=secret",
    ]) {
      expect(JSON.stringify(failureOf(text, false))).not.toContain("secret");
    }
  });
});

function codeOf(text: string, loopback: boolean): string | undefined {
  const error = failureOf(text, loopback);
  return isRemoteConnectorError(error) && error.delivery === "not_sent" ? error.code : undefined;
}

function failureOf(text: string, loopback: boolean): unknown {
  try {
    return parseOAuthUrl(text, { loopback });
  } catch (error) {
    return error;
  }
}
