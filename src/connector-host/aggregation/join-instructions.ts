/** The instructions of one connector's server. */
export interface ConnectorInstructions {
  readonly connectorKey: string;
  readonly text: string;
}

/** Characters of one connector's instructions, and of all together. */
export interface InstructionLimits {
  readonly perConnector: number;
  readonly inAll: number;
}

const LIMITS: InstructionLimits = { perConnector: 2_048, inAll: 16_384 };
const CUT = " [...]";
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/**
 * The instructions of several servers as one text, each under its connector's name, in the order given. What is longer than its share is
 * cut, and what has no room any more is counted at the end. `undefined` when there are none. Pure.
 */
export function joinInstructions(
  all: Iterable<ConnectorInstructions>,
  { perConnector, inAll }: InstructionLimits = LIMITS,
): string | undefined {
  const parts: string[] = [];
  let length = 0;
  let more = 0;
  for (const { connectorKey, text } of all) {
    const plain = text.replaceAll(CONTROL, " ").trim();
    if (plain === "") continue;
    const part = `# ${connectorKey}\n${cut(plain, perConnector)}`;
    if (length + part.length > inAll) {
      more += 1;
      continue;
    }
    length += part.length;
    parts.push(part);
  }
  if (more > 0) parts.push(`+${String(more)} more connectors with instructions`);
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - CUT.length).replace(/[\uD800-\uDBFF]$/, "") + CUT;
}
