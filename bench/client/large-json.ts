import { textOf } from "../support/contenders.js";
import { BarePost } from "./bare-post.js";
import { atLeast, expectSame, type Row } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { speedRatio, timeInTurn } from "./pairs.js";
import { ITEM_COUNT, MEGABYTE } from "./payloads.js";

/** Results of about 1 MB: one text, and many structured items. */
export const largeJson: Row = async ({ url, quick }) => {
  const client = ourClient(url);
  const bare = new BarePost(url);
  const pace = { rounds: quick ? 7 : 15, calls: quick ? 10 : 20 };
  const call = (name: string) => ({ name, arguments: {} });
  try {
    await client.listAllTools();
    const [mineText, undiciText] = await timeInTurn(
      [
        {
          name: "remote-connector",
          work: async () => expectText((await client.callTool(call("megabyte"))).content),
        },
        {
          name: "undici.request",
          work: async () => expectText((await bare.json("tools/call", call("megabyte"))).content),
        },
      ],
      pace,
    );
    const [mineItems, undiciItems] = await timeInTurn(
      [
        {
          name: "remote-connector",
          work: async () => expectItems((await client.callTool(call("items"))).structuredContent),
        },
        {
          name: "undici.request",
          work: async () => expectItems((await bare.json("tools/call", call("items"))).structuredContent),
        },
      ],
      pace,
    );
    return [
      atLeast("1 MB JSON, text", speedRatio(mineText, undiciText), "of undici", 0.95),
      atLeast("1 MB JSON, items", speedRatio(mineItems, undiciItems), "of undici", 0.95),
    ];
  } finally {
    await Promise.all([client.close(), bare.close()]);
  }
};

function expectText(content: unknown): void {
  const text = textOf(content);
  expectSame("length of the text", text.length, MEGABYTE.length);
  expectSame("end of the text", text.slice(-16), MEGABYTE.slice(-16));
}

function expectItems(structured: unknown): void {
  const items = typeof structured === "object" && structured !== null && "items" in structured ? structured.items : [];
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  expectSame("number of items", list.length, ITEM_COUNT);
  const last = list.at(-1);
  expectSame("last item", typeof last === "object" && last !== null && "id" in last && last.id, ITEM_COUNT - 1);
}
