import { ModernStreamableHTTPClient } from "remote-connector";

// A tool may need something from a person before it can go on. Whoever has a handler answers.
const client = new ModernStreamableHTTPClient({
  endpoint: process.argv[2] ?? "http://127.0.0.1:3000/mcp",
  clientInfo: { name: "elicitation", version: "1.0.0" },
  handlers: {
    elicitation: {
      form: ({ message }, { server }) => {
        console.log(new URL(server.origin).hostname, "asks:", message);
        return { action: "accept", content: { nights: 3 } };
      },
      // Show the person the whole URL, and open it only when they agree.
      url: () => ({ action: "decline" }),
    },
  },
});

const result = await client.callTool({ name: "book", arguments: { city: "Lima" } });
console.log(JSON.stringify(result.content));
await client.close();
