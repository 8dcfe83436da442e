import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Linked, LinkedSet } from './linked-set.js';

class Member implements Linked<Member> {
  older: Member | undefined;
  newer: Member | undefined;
  isLinked = false;
}

it('any additions and deletions → the same members in the same order as a Set whose members move to the end', () => {
  const step = fc.record({ adds: fc.boolean(), at: fc.nat({ max: 9 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const members = Array.from({ length: 10 }, () => new Member());
      const [linked, plain] = [new LinkedSet<Member>(), new Set<Member>()];
      for (const { adds, at } of steps) {
        const member = members[at];
        if (member === undefined) continue;
        const wasMember = plain.delete(member);
        if (adds) {
          plain.add(member);
          linked.add(member);
        } else expect(linked.delete(member)).toBe(wasMember);
        expect([...linked]).toEqual([...plain]);
        expect(linked.size).toBe(plain.size);
      }
    }),
  );
});

it('a removed member → holds no references, so that it keeps nothing alive', () => {
  const set = new LinkedSet<Member>();
  const [first, middle, last] = [new Member(), new Member(), new Member()];
  for (const member of [first, middle, last]) set.add(member);
  set.delete(middle);
  expect([middle.older, middle.newer]).toEqual([undefined, undefined]);
  expect([first.newer, last.older]).toEqual([last, first]);
});
