/** What the server sends and the rows expect; the same on every run. */

export const MIB = 1024 * 1024;

/** The size of one notification's data in the stream of many. */
export const NOTE_BYTES = 64 * 1024;

export const ITEM_COUNT = 10_000;

/** A text of so many MiB, of plain characters. */
export function textOfMegabytes(megabytes: number): string {
  return "0123456789abcdef".repeat((megabytes * MIB) / 16);
}

export const MEGABYTE = textOfMegabytes(1);

/** Some hundred bytes for each item, so that all of them are about 1 MB. */
export const ITEMS_JSON = JSON.stringify(
  Array.from({ length: ITEM_COUNT }, (_, i) => ({
    id: i,
    name: `item ${String(i)}`,
    isActive: i % 3 === 0,
    score: i / 8,
    tags: ["first", "second"],
    note: "a few words",
  })),
);

/** The arguments that are mirrored into headers. The city is not ASCII. */
export const MIRRORED_ARGUMENTS = { region: "eu-west-1", city: "Zürich", count: 7 };

/** The headers that stand for {@link MIRRORED_ARGUMENTS}. */
export const MIRRORED_HEADERS = {
  "Mcp-Param-Region": "eu-west-1",
  "Mcp-Param-City": `=?base64?${Buffer.from("Zürich").toString("base64")}?=`,
  "Mcp-Param-Count": "7",
};

/** A tool with three parameters that travel in headers too. */
export const MIRRORING_TOOL = {
  name: "mirrored",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string" },
      region: { type: "string", "x-mcp-header": "Region" },
      city: { type: "string", "x-mcp-header": "City" },
      count: { type: "integer", "x-mcp-header": "Count" },
    },
    required: ["text"],
  },
};

/** What each of the many tools gives. */
export const RECORDS = { records: [{ id: "r-1", title: "First", score: 0.5 }], total: 1 };
export const RECORDS_TEXT = JSON.stringify(RECORDS);

/** What each of them promises, when it does. */
const RECORDS_SCHEMA = {
  type: "object",
  properties: {
    records: {
      type: "array",
      items: {
        type: "object",
        properties: { id: { type: "string" }, title: { type: "string" }, score: { type: "number", minimum: 0 } },
        required: ["id", "title"],
      },
    },
    total: { type: "integer", minimum: 0 },
  },
  required: ["records", "total"],
};

/** The name of one of many tools, from 0. */
export function toolName(index: number): string {
  return `tool_${String(index)}`;
}

/** So many tools, as a server would list them; `typed`: with output schemas. */
export function toolsOf(count: number, typed = false): readonly object[] {
  return Array.from({ length: count }, (_, i) => ({
    name: toolName(i),
    ...(typed ? { outputSchema: RECORDS_SCHEMA } : {}),
    title: `Tool number ${String(i)}`,
    description: "Looks for records that match the query, newest first.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for." },
        limit: { type: "integer", minimum: 1, maximum: 100 },
        options: { type: "object", properties: { exact: { type: "boolean" } } },
      },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
  }));
}
