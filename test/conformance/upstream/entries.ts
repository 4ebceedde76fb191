import { completable, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { embedded, IMAGE, PIXEL, says, text } from "./content.js";

const WORDS = ["paris", "park", "party"];

/** Prompts of each kind, with arguments that are completed. */
export function addPrompts(server: McpServer): void {
  const description = "A prompt for testing.";
  server.registerPrompt("test_simple_prompt", { description }, () =>
    says(text("This is a simple prompt for testing.")),
  );
  const argument = completable(z.string(), (value) => WORDS.filter((word) => word.startsWith(value)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description, argsSchema: z.object({ arg1: argument, arg2: z.string() }) },
    ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      says(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  );
  server.registerPrompt("test_prompt_with_image", { description }, () =>
    says(IMAGE, text("Please analyze the image above.")),
  );
}

/** A text, an image, one that can be watched, and a template. */
export function addResources(server: McpServer): void {
  const description = "A resource for testing.";
  const plain = { description, mimeType: "text/plain" };
  const textAt = (name: string, uri: string, value: string): void => {
    server.registerResource(name, uri, plain, () => ({ contents: [{ uri, mimeType: "text/plain", text: value }] }));
  };
  textAt("Static text", "test://static-text", "This is the content of the static text resource.");
  textAt("Watched", "test://watched-resource", "Watched resource content");
  const image = "test://static-binary";
  server.registerResource("Static binary", image, { description, mimeType: "image/png" }, () => ({
    contents: [{ uri: image, mimeType: "image/png", blob: PIXEL }],
  }));
  server.registerResource(
    "Template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description, mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify(dataOf(String(id))) }],
    }),
  );
}

function dataOf(id: string): object {
  return { id, templateTest: true, data: `Data for ID: ${id}` };
}
