/** A program that opens a URL. */
export interface OpenCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether an exit code other than 0 means that nothing was opened. */
  readonly saysByExitCode: boolean;
}

/**
 * The program that opens a URL with the browser of the person's choice, and its arguments: the URL is the last one, as a whole. Pure.
 *
 * On Windows it is named by its full path, below `systemRoot`: there a bare name would be looked for in the current folder first.
 */
export function openCommand(platform: NodeJS.Platform, url: string, systemRoot: string | undefined): OpenCommand {
  if (platform === "darwin") return { command: "open", args: [url], saysByExitCode: true };
  if (platform === "win32") {
    const command = `${systemRoot ?? "C:\\Windows"}\\System32\\rundll32.exe`;
    return { command, args: ["url.dll,FileProtocolHandler", url], saysByExitCode: false };
  }
  return { command: "xdg-open", args: [url], saysByExitCode: true };
}
