import { type ChildProcess, spawn } from "node:child_process";
import { RemoteConnectorError } from "../../errors.js";
import { functionOption, refuseUnknownOptions } from "../../options.js";
import { type Clock, parseEndpoint, systemClock } from "../../transport/index.js";
import type { OpenUrl } from "../interaction.js";
import { openCommand } from "./open-command.js";

/** For {@link systemOpener}. */
export interface SystemOpenerOptions {
  /** Default: that of this process. */
  readonly platform?: NodeJS.Platform | undefined;
  /** How a program is started. Default: `node:child_process`. */
  readonly spawn?: typeof spawn | undefined;
  readonly clock?: Clock | undefined;
}

const KNOWN = ["platform", "spawn", "clock"] as const satisfies readonly (keyof SystemOpenerOptions)[];

/** How long a program is watched for giving up at once, as it does where there is no browser. */
const WATCH_MS = 1_000;

/**
 * Opens URLs in the browser that the system has for them: by `open` on macOS, by the URL handler of Windows, else by `xdg-open`,
 * which also heeds the variable `BROWSER`; this package doesn't. No shell is between, and the URL is one argument. The program gets
 * this process's environment and outlives it.
 *
 * Resolves when the program has ended well, or is still running after a second. Rejects with `invalid_url` for a URL that is neither
 * https nor on loopback, or holds userinfo or a fragment, and with `spawn_failed` when the program is missing or gives up. Throws
 * `invalid_options`.
 */
export function systemOpener(options: SystemOpenerOptions = {}): OpenUrl {
  refuseUnknownOptions(options, KNOWN);
  const { clock = systemClock, platform = process.platform } = options;
  const start = functionOption<typeof spawn>("spawn", options.spawn, spawn);
  return async (url) => {
    const { href } = parseEndpoint(url, { allowInsecureHttp: false });
    const { args, command, saysByExitCode } = openCommand(platform, href, process.env["SystemRoot"]);
    const child = startProgram(start, command, args);
    await opened(child, command, saysByExitCode, clock);
  };
}

function startProgram(start: typeof spawn, command: string, args: readonly string[]): ChildProcess {
  try {
    return start(command, [...args], { detached: true, shell: false, stdio: "ignore", windowsHide: true });
  } catch (error) {
    throw spawnFailed(command, error);
  }
}

/** Waits for what {@link systemOpener} says of the program. Neither it nor its end keeps this process alive afterwards. */
function opened(child: ChildProcess, command: string, saysByExitCode: boolean, clock: Clock): Promise<void> {
  child.unref();
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(WATCH_MS, resolve);
    const fail = (failure: unknown): void => {
      cancel();
      reject(spawnFailed(command, failure));
    };
    child.on("error", fail);
    child.once("exit", (code, signal) => {
      if (code !== 0 && saysByExitCode) return fail(`ended by ${signal ?? `exit code ${String(code)}`}`);
      cancel();
      resolve();
    });
  });
}

/** Without a cause: Node puts the arguments on it, and the URL holds a `state`. */
function spawnFailed(command: string, failure: unknown): RemoteConnectorError<"spawn_failed"> {
  const code: unknown = failure instanceof Error ? Reflect.get(failure, "code") : failure;
  const reason = typeof code === "string" ? code : "unknown";
  return new RemoteConnectorError("spawn_failed", {
    message: `No browser could be opened by ${command}: ${reason}.`,
    details: { command, reason },
  });
}
