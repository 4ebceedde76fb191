import { describe, expect, it } from "vitest";
import { openCommand } from "../../../../src/oauth/code-flow/open-command.js";

const URL_TEXT = "https://as.example.com/authorize?a=1&b=$(x)";
const WINDOWS = ["url.dll,FileProtocolHandler", URL_TEXT];

describe("A-5: the program that opens a URL", () => {
  it.each<[NodeJS.Platform, string | undefined, string, readonly string[]]>([
    ["linux", undefined, "xdg-open", [URL_TEXT]],
    ["freebsd", undefined, "xdg-open", [URL_TEXT]],
    ["darwin", undefined, "open", [URL_TEXT]],
    ["win32", "D:\\Win", "D:\\Win\\System32\\rundll32.exe", WINDOWS],
    ["win32", undefined, "C:\\Windows\\System32\\rundll32.exe", WINDOWS],
  ])("on %s (%s) is %s", (platform, systemRoot, command, args) => {
    expect(openCommand(platform, URL_TEXT, systemRoot)).toMatchObject({ command, args });
  });
});
