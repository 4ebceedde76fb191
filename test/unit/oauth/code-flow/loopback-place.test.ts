import { describe, expect, it } from "vitest";
import { addressesOf, loopbackPlaces, redirectUriOf } from "../../../../src/oauth/code-flow/loopback-place.js";

describe("A-5: the places of registered redirect URIs", () => {
  it.each([
    ["http://127.0.0.1:4321/callback", "127.0.0.1", 4321, "/callback", ["127.0.0.1"]],
    ["http://127.0.0.1/callback", "127.0.0.1", 80, "/callback", ["127.0.0.1"]],
    ["http://localhost:4321", "localhost", 4321, "/", ["127.0.0.1", "::1"]],
    ["HTTP://LOCALHOST:4321/Cb?x=1", "localhost", 4321, "/Cb", ["127.0.0.1", "::1"]],
    ["http://[::1]:4321/a/b", "[::1]", 4321, "/a/b", ["::1"]],
    ["http://127.0.0.2:4321/", "127.0.0.2", 4321, "/", ["127.0.0.2"]],
  ])("%s can be listened on, and is sent as it is", (registered, hostname, port, path, addresses) => {
    const [place, ...others] = loopbackPlaces([registered]);
    expect(place).toEqual({ hostname, port, path, registered });
    expect(others).toEqual([]);
    if (place === undefined) return;
    expect(addressesOf(place)).toEqual(addresses);
    expect(redirectUriOf(place, 9)).toBe(registered);
  });

  it.each([
    "https://127.0.0.1:4321/callback",
    "https://app.example/callback",
    "http://192.168.0.1:4321/callback",
    "http://127.0.0.1.evil.example:4321/callback",
    "http://localhost.evil.example/callback",
    "http://user@127.0.0.1:4321/callback",
    "http://127.0.0.1:4321/callback#x",
    "com.example.app:/callback",
    "urn:ietf:wg:oauth:2.0:oob",
    "",
  ])("%j can't be", (registered) => expect(loopbackPlaces([registered])).toEqual([]));

  it("keep the order of the list", () => {
    const list = ["app:/x", "http://127.0.0.1:2/b", "https://a.example/", "http://127.0.0.1:1/a"];
    expect(loopbackPlaces(list).map(({ registered }) => registered)).toEqual([list[1], list[3]]);
  });

  it("are written as URLs where nothing is registered", () => {
    const place = { hostname: "[::1]", port: 0, path: "/callback", registered: undefined };
    expect(redirectUriOf(place, 4321)).toBe("http://[::1]:4321/callback");
    expect(redirectUriOf({ ...place, hostname: "127.0.0.1" }, 80)).toBe("http://127.0.0.1/callback");
  });
});
