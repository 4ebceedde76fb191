import { describe, expect, it } from "vitest";
import { checkLoopbackHost } from "../../../src/serving/index.js";

describe("checkLoopbackHost", () => {
  it.each(["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.1.2.3", "[::1]", "[::1]:9"])(
    "H-20: Host %s names this machine",
    (host) => {
      expect(checkLoopbackHost({ host })).toEqual({ kind: "allowed" });
    },
  );

  it.each([
    undefined,
    "",
    "example.test",
    "localhost.example.test",
    "127.0.0.1.example.test",
    "evil.test:80",
    "localhost:",
    "localhost:999999",
    "127.0.0.1@evil.test",
    "[::1]evil",
    "192.168.0.1",
    "localhost, localhost",
  ])("H-20: Host %s does not", (host) => {
    expect(checkLoopbackHost({ host })).toEqual({ kind: "refused", header: "Host" });
  });

  it.each(["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1", "HTTP://LOCALHOST"])(
    "H-20: Origin %s is this machine",
    (origin) => {
      expect(checkLoopbackHost({ host: "localhost", origin })).toEqual({ kind: "allowed" });
    },
  );

  it.each([
    "null",
    "",
    "https://example.test",
    "http://localhost.example.test",
    "http://localhost@evil.test",
    "http://evil.test/localhost",
    "file://localhost",
    "http://localhost/",
    "http://localhost, http://evil.test",
  ])("H-20: Origin %j is foreign", (origin) => {
    expect(checkLoopbackHost({ host: "localhost", origin })).toEqual({ kind: "refused", header: "Origin" });
  });

  it("H-20: takes an origin that was allowed, to the letter", () => {
    const allowed = ["app://product"];
    expect(checkLoopbackHost({ host: "localhost", origin: "app://product" }, allowed)).toEqual({ kind: "allowed" });
    expect(checkLoopbackHost({ host: "localhost", origin: "app://Product" }, allowed).kind).toBe("refused");
    expect(checkLoopbackHost({ host: "evil.test", origin: "app://product" }, allowed)).toEqual({
      kind: "refused",
      header: "Host",
    });
  });
});
