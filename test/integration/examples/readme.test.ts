import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWeatherServer, type WeatherServer } from "../../../examples/first-run/upstreams/weather-server.js";

let weather: WeatherServer;
beforeAll(async () => void (weather = await startWeatherServer()));
afterAll(() => weather.close());

it("the README's first call is an example that runs", async () => {
  const example = await readFile("examples/first-call.ts", "utf8");
  expect(await readFile("README.md", "utf8")).toContain(`\`\`\`ts\n${example}\`\`\``);
  const { stdout } = await promisify(execFile)(process.execPath, ["build/examples/first-call.js", weather.url]);
  expect(stdout.split("\n")).toEqual([
    "current_weather, forecast, list_cities",
    "day 1",
    "day 2",
    expect.stringMatching(/^\{"days":\[\{"city":"Lima","day":1,/),
    "",
  ]);
});
