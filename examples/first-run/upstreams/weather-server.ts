/**
 * A small MCP server of revision 2026-07-28 over HTTP, to stand behind a gateway: made-up weather, the same every time.
 *
 * `current_weather` mirrors its city into the header `Mcp-Param-City` and gives structured output, `forecast` reports
 * progress, `list_cities` takes nothing.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";

const CITIES = ["Berlin", "Lima", "Nairobi", "Osaka", "São Paulo"] as const;
const SKIES = ["clear", "cloudy", "rain", "fog"] as const;
const MS_PER_DAY_FORECAST = 20;

const city = z.string().describe("A city that list_cities names").meta({ "x-mcp-header": "City" });
const weather = z.object({ city: z.string(), day: z.int(), sky: z.enum(SKIES), celsius: z.int() });

type Weather = z.infer<typeof weather>;

/** A running server. */
export interface WeatherServer {
  /** The MCP endpoint. */
  readonly url: string;
  /** Stops listening and ends what is under way. */
  close(): Promise<void>;
}

/** Starts the server on a free port of this machine. */
export async function startWeatherServer(): Promise<WeatherServer> {
  const handler = createMcpHandler(createWeather, { legacy: "reject", keepAliveMs: 0 });
  const serve = toNodeHandler(handler);
  const server = createServer((request, response) => {
    if (isServerRequest(request)) void serve(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${String(port)}/mcp`,
    async close() {
      const closed = once(server, "close");
      server.close();
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Requests that a server receives have both; the type is shared with answers that a client receives. */
function isServerRequest(request: IncomingMessage): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}

function createWeather(): McpServer {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  server.registerTool(
    "current_weather",
    {
      title: "Current weather",
      description: "The weather in a city today",
      inputSchema: z.object({ city }),
      outputSchema: weather,
      annotations: { readOnlyHint: true },
    },
    (args) => answer(weatherOf(args.city, 0)),
  );
  server.registerTool(
    "forecast",
    {
      title: "Forecast",
      description: "The weather in a city for the next days, one by one",
      inputSchema: z.object({ city, days: z.int().min(1).max(7).default(3) }),
      outputSchema: z.object({ days: z.array(weather) }),
      annotations: { readOnlyHint: true },
    },
    async (args, context) => answer({ days: await forecast(args.city, args.days, context) }),
  );
  server.registerTool(
    "list_cities",
    { title: "Cities", description: "The cities that have weather", annotations: { readOnlyHint: true } },
    () => ({ content: CITIES.map((name) => ({ type: "text", text: name })) }),
  );
  return server;
}

async function forecast(name: string, days: number, { mcpReq }: ServerContext): Promise<Weather[]> {
  const found: Weather[] = [];
  const progressToken = mcpReq._meta?.progressToken;
  for (let day = 1; day <= days; day += 1) {
    await delay(MS_PER_DAY_FORECAST, undefined, { signal: mcpReq.signal });
    found.push(weatherOf(name, day));
    if (progressToken === undefined) continue;
    const params = { progressToken, progress: day, total: days, message: `Day ${String(day)}` };
    await mcpReq.notify({ method: "notifications/progress", params });
  }
  return found;
}

/** Nothing but the name and the day decides. */
function weatherOf(name: string, day: number): Weather {
  const seed = Buffer.from(name).reduce((sum, byte) => sum + byte, day * 7);
  return { city: name, day, sky: SKIES[seed % SKIES.length] ?? "clear", celsius: (seed % 35) - 5 };
}

function answer<T extends Record<string, unknown>>(
  structuredContent: T,
): { content: { type: "text"; text: string }[]; structuredContent: T } {
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}
