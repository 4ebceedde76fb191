import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { askApplication } from "../../../../src/oauth/grants/ask-application.js";

describe("the application's own token", () => {
  it("A-9: is asked for once, and may come at once or later", async () => {
    let asked = 0;
    const give = (): string => `token-${String((asked += 1))}`;
    expect(await askApplication(give)).toBe("token-1");
    expect(await askApplication(() => Promise.resolve(give()))).toBe("token-2");
    expect(asked).toBe(2);
  });

  it("A-9: loses the blanks around it, such as the end of a file's line", async () => {
    expect(await askApplication(() => " a.b.c\r\n")).toBe("a.b.c");
  });

  it.each(["", " \n"])("A-9: can't be %j", async (text) => {
    await expect(askApplication(() => text)).rejects.toMatchObject({ code: "authorize_failed", delivery: "not_sent" });
  });

  it("A-9: can't be what is no text", async () => {
    const give = (): string => JSON.parse("5");
    await expect(askApplication(give)).rejects.toMatchObject({ code: "authorize_failed" });
  });

  it("A-9: that can't be had is authorize_failed, with what was thrown as the cause", async () => {
    const cause = new Error("the file is gone");
    const failed = { code: "authorize_failed", delivery: "not_sent", cause };
    await expect(
      askApplication(() => {
        throw cause;
      }),
    ).rejects.toMatchObject(failed);
    await expect(askApplication(() => Promise.reject(cause))).rejects.toMatchObject(failed);
  });

  it("A-9: an error of this package comes back as it is", async () => {
    const error = new RemoteConnectorError("cancelled", { message: "Signed out.", details: { reason: "signed_out" } });
    await expect(askApplication(() => Promise.reject(error))).rejects.toBe(error);
  });

  it("A-9: is waited for no longer than the signal says, and not asked for after", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const asked = askApplication(() => new Promise(() => undefined), controller.signal);
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    let wasAsked = false;
    const late = askApplication(() => {
      wasAsked = true;
      return "token";
    }, controller.signal);
    await expect(late).rejects.toBe(reason);
    expect(wasAsked).toBe(false);
  });
});
