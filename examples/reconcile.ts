import { createServer } from "node:http";
import { type Site, Sites } from "./reconcile/sites.js";

/** A site on a free port of this machine. */
async function open(text: string): Promise<Site> {
  const server = createServer((_request, response) => response.end(text));
  const gone = new Promise<void>((resolve) => server.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${String(port)}`, gone, close };
}

const sites = new Sites({
  clock: {
    now: Date.now,
    schedule: (delayMs, run) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  },
  random: Math.random,
  open,
});
const { controller } = sites;

const show = async (): Promise<void> => {
  await controller.idle();
  for (const { key, activity } of await controller.status("sites")) {
    const url = sites.url(key);
    const serves = url === undefined ? "nothing" : await (await fetch(url)).text();
    console.log(`${key}: ${activity}, serves ${serves}`);
  }
};

await sites.set("home", "welcome");
await sites.set("shop", "sold out");
sites.start();
await show();
await sites.set("shop", "open");
await sites.set("home", undefined);
await show();

const { run_started: runs, failed } = controller.metrics().events;
const last = await controller.events.position();
for await (const event of controller.events.follow({ after: 0 })) {
  console.log(event.seq, event.kind, "key" in event ? event.key : "");
  if (event.seq === last) break;
}
await sites.close();
console.log(`${String(runs)} runs, ${String(failed)} failed`);
