import { describe, expect, it } from '@jest/globals';
import { type Command, matching, partsIn } from './commands.rules.js';

const command = (label: string, kind = 'Application', ...also: string[]): Command => ({
  ...{ id: `${kind} ${label}`, label, kind, also },
  run: () => undefined,
});
const labels = (commands: readonly Command[]) => commands.map(({ label }) => label);

describe('what the palette shows for a text', () => {
  const journals = ['Old Journal', 'Journal 30', 'Journal 3', 'Worker'].map((name) => command(name));

  it.each([
    ['', ['Old Journal', 'Journal 30', 'Journal 3', 'Worker']],
    ['journal 3', ['Journal 3', 'Journal 30']],
    ['JOURNAL', ['Journal 30', 'Journal 3', 'Old Journal']],
    ['  worker ', ['Worker']],
    ['application work', ['Worker']],
    ['no such thing', []],
  ])('“%s” → what has every word, the exact name first', (typed, expected) => {
    expect(labels(matching(journals, typed))).toEqual(expected);
  });

  it('ids and other names → found as well', () => {
    const app = command('Journal', 'Application', 'journal-k3x9qa', 'com.example.diary');
    expect(labels(matching([app], 'k3x9'))).toEqual(['Journal']);
    expect(labels(matching([app], 'example.diary'))).toEqual(['Journal']);
  });

  it('an application and one of its parts → apart', () => {
    const tabs = { usage: 'Usage', users: 'Users', limits: 'Limits' };
    expect(partsIn('my journal us', tabs)).toEqual({ before: 'my journal', parts: ['usage', 'users'] });
    expect(partsIn('journal', tabs)).toEqual({ before: '', parts: [] });
    expect(partsIn('journal 3', tabs)).toEqual({ before: '', parts: [] });
  });
});
