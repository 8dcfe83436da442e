import { describe, expect, it } from '@jest/globals';
import { type Command, matching, partsIn, shortened } from './commands.rules.js';

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
  ])('“%s” → entries with every word, the exact name first', (typed, expected) => {
    expect(labels(matching(journals, typed))).toEqual(expected);
  });

  it('documents → after everything else, in their order', () => {
    const document = (label: string, place: number) => ({ ...command(label, 'Documentation'), place });
    const found = matching(
      [document('Budget grants and holds', 9), document('Limits and budgets', 1), command('Change a budget', 'Action')],
      'budget',
    );
    expect(labels(found)).toEqual(['Change a budget', 'Limits and budgets', 'Budget grants and holds']);
    const many = [...Array.from({ length: 30 }, (_none, at) => command(`Budget ${at}`)), ...found];
    expect(labels(shortened(many, 20, 5)).slice(-2)).toEqual(['Limits and budgets', 'Budget grants and holds']);
    expect(labels(shortened(many, 20, 5))).toHaveLength(20);
  });

  it('a word with that prefix → before words that only contain the letters', () => {
    expect(labels(matching([command('Unblock'), command('Not block')], 'block'))).toEqual(['Not block', 'Unblock']);
  });

  it('ids and other names → also found', () => {
    const app = command('Journal', 'Application', 'journal-k3x9qa', 'com.example.diary');
    expect(labels(matching([app], 'k3x9'))).toEqual(['Journal']);
    expect(labels(matching([app], 'example.diary'))).toEqual(['Journal']);
  });

  it('an application and one of its parts → separate entries', () => {
    const tabs = { usage: 'Usage', users: 'Users', limits: 'Limits' };
    expect(partsIn('my journal us', tabs)).toEqual({ before: 'my journal', parts: ['usage', 'users'] });
    expect(partsIn('journal', tabs)).toEqual({ before: '', parts: [] });
    expect(partsIn('journal 3', tabs)).toEqual({ before: '', parts: [] });
  });
});
