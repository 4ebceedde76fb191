/** Records the conversations of `test/transcripts` with the real servers: `record-transcripts [FOLDER]`. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "remote-connector";
import { LegacySSEClient } from "remote-connector/legacy-client";
import { versionOf } from "../interop/installed.js";
import { type Clients, converse } from "../transcripts/conversation.js";
import { readLog } from "../transcripts/read-log.js";
import { RecordingProxy } from "../transcripts/recording-proxy.js";
import { type Scene, SCENES } from "../transcripts/scenes.js";
import { type Transcript, withPlaceholders } from "../transcripts/transcript.js";

const CLIENTS: Clients = { connect, connectSse: (options) => LegacySSEClient.connect(options) };

const [folder = "test/transcripts"] = process.argv.slice(2);
for (const scene of SCENES) {
  const transcript = withPlaceholders(await record(scene));
  writeFileSync(join(folder, scene.file), `${JSON.stringify(transcript, null, 2)}\n`);
  console.log(scene.file);
}

function record(scene: Scene): Promise<Transcript> {
  return scene.over === "stdio" ? recordStdio(scene) : recordHttp(scene);
}

async function recordHttp(scene: Exclude<Scene, { readonly over: "stdio" }>): Promise<Transcript> {
  const { over, told, script } = scene;
  const server = await scene.start();
  const proxy = await RecordingProxy.start(server.url);
  try {
    const outcomes = await converse(CLIENTS, { kind: over, endpoint: proxy.url }, told, script);
    await proxy.close();
    const path = new URL(server.url).pathname;
    return { server: nameOf(scene), over, told, path, outcomes, exchanges: proxy.exchanges() };
  } finally {
    await server.stop();
  }
}

async function recordStdio(scene: Extract<Scene, { readonly over: "stdio" }>): Promise<Transcript> {
  const { over, told, script } = scene;
  const scratch = mkdtempSync(join(tmpdir(), "transcripts-"));
  try {
    const log = join(scratch, "log");
    const args = ["build/test/programs/transcript-stdio.js", "record", log, ...scene.args];
    const outcomes = await converse(CLIENTS, { kind: over, command: process.execPath, args }, told, script);
    return { server: nameOf(scene), over, told, outcomes, processes: readLog(log) };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function nameOf({ server }: Scene): string {
  return `@modelcontextprotocol/${server} ${versionOf(server)}`;
}
