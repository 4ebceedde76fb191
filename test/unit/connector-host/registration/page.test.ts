import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  createRegistration,
  parseStdioConnector,
  readRegistration,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";
import { accepted } from "../server-import/accepted-import.js";
import { ID, requested } from "./registration.fixture.js";

const page = readFileSync("docs/registrations.md", "utf8");
const [value = "", registration = "", program = ""] = [...page.matchAll(/```json\n(.*?)```/gs)].map(
  ([, json]) => json ?? "",
);

/** The first cells of the table whose head begins with `head`, one for each row. */
function firstCells(head: string): readonly string[] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${head} `));
  const rows = lines.slice(start + 2);
  return rows.slice(0, rows.indexOf("")).map((line) => line.split("|")[1]?.trim() ?? "");
}

it("H-3: the page's registration is one, and is written as it stands there", () => {
  const read = readRegistration(registration);
  expect(JSON.parse(writeRegistration(read))).toEqual(JSON.parse(registration));
});

it("H-2: the page's managed program is one", () => {
  expect(parseStdioConnector(JSON.parse(program))).toMatchObject(JSON.parse(program));
});

it("H-3: the page's forms of a value can be the value of a header", () => {
  const forms = [value, ...firstCells("form").map((cell) => cell.replaceAll("`", ""))];
  expect(forms.length).toBeGreaterThan(4);
  for (const form of forms.filter((each) => !each.includes("…"))) {
    const settings = { endpoint: "https://docs.example/", headers: { "X-Team": JSON.parse(form) } };
    const made = createRegistration(requested({ settings }), ID);
    expect(made.settings.headers["X-Team"]).toEqual(JSON.parse(form));
  }
});

it("H-3: an import leaves out what the page says", () => {
  const row = firstCells("is taken").find((cell) => cell.startsWith("`timeout`")) ?? "";
  const names = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    const { notes } = accepted({ mcpServers: { docs: { url: "https://docs.example/", [name]: 1 } } });
    expect(notes).toMatchObject([{ kind: "left_out", member: `mcpServers.docs.${name}` }]);
  }
});
