import { describe, expect, it } from "vitest";
import { controlAddress } from "../../../../src/connector-host/control/control-address.js";

describe("the address of a host", () => {
  it("R-5: is a socket in its state directory, made in a directory beside it", () => {
    expect(controlAddress("/srv/state/", "linux")).toEqual({
      kind: "socket",
      path: "/srv/state/control.sock",
      stagingDirectory: "/srv/state/control.d",
      stagingPath: "/srv/state/control.d/s",
    });
  });

  it.each([
    ["linux", 107],
    ["darwin", 103],
    ["freebsd", 103],
  ])("R-5: on %s has at most %i bytes, those of UTF-8", (platform, maxBytes) => {
    const directory = (bytes: number): string => `/é${"d".repeat(bytes - "/é/control.sock".length - 1)}`;
    const longest = controlAddress(directory(maxBytes), platform);
    expect(longest.kind).toBe("socket");
    expect(Buffer.byteLength(longest.path)).toBe(maxBytes);
    expect(controlAddress(directory(maxBytes + 1), platform)).toMatchObject({ kind: "too_long", maxBytes });
  });

  it("R-5: on Windows is a pipe of its own for each directory, however its name is written", () => {
    const pipe = controlAddress("/State", "win32");
    expect(pipe).toEqual({
      kind: "pipe",
      path: expect.stringMatching(/^\\\\\.\\pipe\\remote-connector-[0-9a-f]{32}$/),
    });
    expect(controlAddress("/state/", "win32")).toEqual(pipe);
    expect(controlAddress("/other", "win32")).not.toEqual(pipe);
    expect(controlAddress(`/${"d".repeat(500)}`, "win32").kind).toBe("pipe");
  });
});
