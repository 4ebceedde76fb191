import type { CallToolResult, ContentBlock, PromptMessage } from "@modelcontextprotocol/server";

/** A PNG of one red pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** A WAV file of 8 silent samples. */
const SILENCE = silence(8).toString("base64");

export const IMAGE: ContentBlock = { type: "image", data: PIXEL, mimeType: "image/png" };
export const AUDIO: ContentBlock = { type: "audio", data: SILENCE, mimeType: "audio/wav" };

export function text(value: string): ContentBlock {
  return { type: "text", text: value };
}

export function embedded(uri: string, mimeType: string, value: string): ContentBlock {
  return { type: "resource", resource: { uri, mimeType, text: value } };
}

/** A tool's result. */
export function gives(...content: ContentBlock[]): CallToolResult {
  return { content };
}

/** A prompt's result. */
export function says(...content: ContentBlock[]): { messages: PromptMessage[] } {
  return { messages: content.map((each) => ({ role: "user", content: each })) };
}

/** 8,000 samples a second, one channel, one byte each. Source: the RIFF format of WAV files. */
function silence(samples: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 0x80)]);
}
