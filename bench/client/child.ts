import { fork } from "node:child_process";
import { once } from "node:events";

/** Runs a program that sends one number and ends; the number. Rejects when it ends without. */
export async function numberFrom(program: URL, args: readonly string[], execArgv: string[] = []): Promise<number> {
  const child = fork(program, [...args], { execArgv, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const received: unknown[] = [];
  child.on("message", (message) => received.push(message));
  await once(child, "exit");
  const [figure] = received;
  if (typeof figure !== "number") throw new Error(`${args.join(" ")} gave no figure`);
  return figure;
}
