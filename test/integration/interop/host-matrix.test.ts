import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("H-21, H-22, H-23, H-27: official clients of both eras reach official servers of both eras through a host, over HTTP and over stdio", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "build/test/programs/interop-host-suite.js",
    "--quick",
  ]);
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("interop host: 52 of 52");
}, 90_000);
