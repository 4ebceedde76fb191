import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SCENES } from "../../transcripts/scenes.js";
import type { HttpTranscript, Transcript } from "../../transcripts/transcript.js";
import { play, recorded } from "./play.js";

const FOLDER = new URL("../../transcripts/", import.meta.url);

const RULES = { http: "L-1, L-8", sse: "L-11", stdio: "L-13" } as const;

function read(file: string): Transcript {
  return JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
}

function sceneOf(name: string): { readonly transcript: Transcript; readonly scene: (typeof SCENES)[number] } {
  const scene = SCENES.find(({ file }) => file === name);
  if (scene === undefined) throw new Error(`no scene ${name}`);
  return { scene, transcript: read(name) };
}

describe("the transcripts", () => {
  it("are those of all scenes, and no others", () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
    expect(files.toSorted()).toEqual(SCENES.map(({ file }) => file).toSorted());
  });

  it("hold no trace of the machine that they were recorded on", () => {
    for (const { file } of SCENES) {
      expect(readFileSync(new URL(file, FOLDER), "utf8")).not.toMatch(/localhost|127\.0\.0\.1|\/tmp\/|node_modules/);
    }
  });
});

describe("a conversation as it was with the real server", () => {
  const titled = SCENES.map((scene) => [`${RULES[scene.over]}: ${scene.file}`, scene] as const);
  it.each(titled)("%s: the same requests, and the same results", async (_, { file, script }) => {
    const transcript = read(file);
    const { outcomes, sent } = await play(transcript, script);
    expect(sent).toEqual(recorded(transcript));
    expect(outcomes).toEqual(transcript.outcomes);
  });

  it("is another one when the server gives another answer", async () => {
    const { transcript, scene } = sceneOf("sdk-stdio-2024-11-05.json");
    const other: Transcript = JSON.parse(JSON.stringify(transcript).replaceAll("counted", "discounted"));
    const { sent, outcomes } = await play({ ...other, outcomes: transcript.outcomes }, scene.script);
    expect(sent).toEqual(recorded(transcript));
    expect(outcomes).not.toEqual(transcript.outcomes);
  });

  it("is another one when the server gives no session", async () => {
    const { transcript, scene } = sceneOf("sdk-http-sessions-auto.json");
    const other: HttpTranscript = JSON.parse(
      JSON.stringify(transcript).replaceAll("mcp-session-id: ", "x-session-id: "),
    );
    expect((await play(other, scene.script)).sent).not.toEqual(recorded(transcript));
  });
});
