import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../../src/connect/index.js";
import { LegacySSEClient } from "../../../src/legacy-client/index.js";
import {
  type Answer,
  answerRaw,
  cutAt,
  Gate,
  holdUntil,
  ScriptedServer,
  withFaults,
} from "../../../src/testing/index.js";
import { type Clients, converse, type Script } from "../../transcripts/conversation.js";
import { readLog } from "../../transcripts/read-log.js";
import {
  clientRequest,
  type Exchange,
  type HttpTranscript,
  type StdioTranscript,
  type Transcript,
} from "../../transcripts/transcript.js";

const CLIENTS: Clients = { connect, connectSse: (options) => LegacySSEClient.connect(options) };

/** What came of a conversation with the server half of a transcript. */
export interface Played {
  readonly outcomes: readonly unknown[];
  /** What the client sent, in the form of the transcript. */
  readonly sent: unknown;
}

/** What the client sent when the transcript was recorded. */
export function recorded(transcript: Transcript): unknown {
  return transcript.over === "stdio"
    ? transcript.processes.map((lines) => lines.filter((line) => "client" in line))
    : transcript.exchanges.map(({ request }) => request);
}

/** Has the conversation again, with the server half of the transcript: its bytes on a real socket, its lines on a real pipe. */
export function play(transcript: Transcript, script: Script): Promise<Played> {
  return transcript.over === "stdio" ? playStdio(transcript, script) : playHttp(transcript, script);
}

async function playHttp(transcript: HttpTranscript, script: Script): Promise<Played> {
  const { over, told, path, exchanges } = transcript;
  const left = [...exchanges];
  const gates = exchanges.map(() => new Gate());
  let began = 0;
  const server = await ScriptedServer.start(
    ({ verb, method }) => {
      gates[began]?.open();
      began += 1;
      const next = left.findIndex(({ request }) => request.verb === verb && methodOf(request.body) === method);
      const [exchange] = next === -1 ? [] : left.splice(next, 1);
      return exchange === undefined ? undefined : answerOf(exchange, gates);
    },
    { path },
  );
  try {
    const outcomes = await converse(CLIENTS, { kind: over, endpoint: server.url }, told, script);
    const sent = server.requests.map(({ verb, target, headers, text }) => clientRequest(verb, target, headers, text));
    return { outcomes: plain(outcomes), sent };
  } finally {
    await server.close();
  }
}

/** The bytes of the server; each piece waits until as many exchanges have begun as before. */
function answerOf({ answer, isClosed }: Exchange, gates: readonly Gate[]): Answer {
  const pieces = answer.map(({ after, text }) => ({ gate: gates[after - 1], bytes: Buffer.from(text.join("")) }));
  const all = Buffer.concat(pieces.map(({ bytes }) => bytes));
  let place = 0;
  const holds = pieces.flatMap(({ gate, bytes }) => {
    const at = place;
    place += bytes.length;
    return gate === undefined ? [] : [holdUntil(gate.opened, at)];
  });
  return withFaults(answerRaw(all), holds, isClosed ? cutAt(all.length) : []);
}

async function playStdio(transcript: StdioTranscript, script: Script): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "transcript-"));
  try {
    const [file, log] = [join(folder, "transcript.json"), join(folder, "log")];
    writeFileSync(file, JSON.stringify(transcript));
    const args = ["build/test/programs/transcript-stdio.js", "replay", file, log];
    const place = { kind: "stdio", command: process.execPath, args } as const;
    const outcomes = await converse(CLIENTS, place, transcript.told, script);
    return { outcomes: plain(outcomes), sent: readLog(log) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function methodOf(body: unknown): unknown {
  return Reflect.get(Object(body), "method");
}

/** As a file would hold it. */
function plain(outcomes: readonly unknown[]): readonly unknown[] {
  return JSON.parse(JSON.stringify(outcomes));
}
