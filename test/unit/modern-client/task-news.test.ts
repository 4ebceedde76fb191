import { describe, expect, it, vi } from "vitest";
import { TaskNews } from "../../../src/modern-client/task-news.js";

describe("W-44 what is heard of tasks", () => {
  it("knows which ones are told of, for as long as one subscription does", () => {
    const news = new TaskNews();
    const first = news.follow(["a", "b", 7]);
    const second = news.follow(["a"]);
    expect([news.heardOf("a"), news.heardOf("b"), news.heardOf("7")]).toEqual([0, 0, undefined]);
    first();
    first();
    expect([news.heardOf("a"), news.heardOf("b")]).toEqual([0, undefined]);
    second();
    expect(news.heardOf("a")).toBeUndefined();
  });

  it.each([undefined, null, "a", 7, {}])("follows nothing for the ids %j", (ids) => {
    const news = new TaskNews();
    news.follow(ids)();
    expect(news.heardOf("a")).toBeUndefined();
  });

  it("wakes who waits for news of this very task, and counts what was heard", () => {
    const news = new TaskNews();
    news.follow(["a"]);
    const wake = vi.fn();
    const forget = news.watch("a", wake);
    for (const params of [{ taskId: "b" }, { taskId: 1 }, undefined, []]) news.heed("notifications/tasks", params);
    news.heed("notifications/message", { taskId: "a" });
    expect(wake).not.toHaveBeenCalled();
    news.heed("notifications/tasks", { taskId: "a" });
    expect([wake.mock.calls.length, news.heardOf("a")]).toEqual([1, 1]);
    forget();
    news.heed("notifications/tasks", { taskId: "a" });
    expect([wake.mock.calls.length, news.heardOf("a")]).toEqual([1, 2]);
  });

  it("wakes who relied on being told when the last subscription is over", () => {
    const news = new TaskNews();
    const end = news.follow(["a"]);
    const wake = vi.fn();
    news.watch("a", wake);
    end();
    expect(wake).toHaveBeenCalledOnce();
  });

  it("lets a watcher take itself back while it is woken", () => {
    const news = new TaskNews();
    const woken: string[] = [];
    const forgetFirst = news.watch("a", () => {
      woken.push("first");
      forgetFirst();
    });
    news.watch("a", () => woken.push("second"));
    news.heed("notifications/tasks", { taskId: "a" });
    news.heed("notifications/tasks", { taskId: "a" });
    expect(woken).toEqual(["first", "second", "second"]);
  });
});
