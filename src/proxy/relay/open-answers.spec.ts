import { describe, expect, it } from '@jest/globals';
import { OpenAnswers } from './open-answers.js';

describe('OpenAnswers', () => {
  it('the service stops → every open answer is ended once, also one that ends others; those that have ended are not', () => {
    const open = new OpenAnswers();
    const ended: string[] = [];
    const answer = (name: string) => ({
      interrupt() {
        ended.push(name);
        open.delete(this);
      },
    });
    const [first, second, third] = [answer('first'), answer('second'), answer('third')];
    for (const each of [first, second, third]) open.add(each);
    open.delete(second);
    expect(open.isStopping).toBe(false);
    open.interruptAll();
    expect([ended, open.isStopping]).toEqual([['first', 'third'], true]);
  });
});
