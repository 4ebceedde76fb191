import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Linked, OpenList } from "../../src/open-list.js";

class Member implements Linked<Member> {
  next: Member | undefined;
  previous: Member | undefined;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

describe("a list of what is open", () => {
  it("is a set in the order of adding, whatever comes and goes", () => {
    const step = fc.record({ adds: fc.boolean(), index: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const members = Array.from({ length: 8 }, (_, i) => new Member(String(i)));
        const list = new OpenList<Member>();
        const model = new Set<Member>();
        for (const { adds, index } of steps) {
          const member = members[index];
          if (member === undefined) continue;
          if (adds && !model.has(member)) {
            list.add(member);
            model.add(member);
          } else if (!adds) expect(list.delete(member)).toBe(model.delete(member));
          expect(list.toArray()).toEqual([...model]);
          expect([list.size, list.first]).toEqual([model.size, [...model][0]]);
        }
      }),
    );
  });

  it("keeps nothing of a member that has left: it points nowhere", () => {
    const list = new OpenList<Member>();
    const [one, two, three] = [new Member("1"), new Member("2"), new Member("3")];
    for (const member of [one, two, three]) list.add(member);
    list.delete(two);
    expect([two.next, two.previous]).toEqual([undefined, undefined]);
    expect([one.next, three.previous]).toEqual([three, one]);
  });

  it("can lose members while a copy is looked at", () => {
    const list = new OpenList<Member>();
    for (const name of ["1", "2", "3"]) list.add(new Member(name));
    const seen: string[] = [];
    for (const member of list.toArray()) {
      seen.push(member.name);
      for (const other of list.toArray()) list.delete(other);
    }
    expect([seen, list.size]).toEqual([["1", "2", "3"], 0]);
  });
});
