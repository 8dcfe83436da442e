import { describe, expect, it } from '@jest/globals';
import { detailsText, furtherDetails, valueText } from './audit-values.rules';

describe('values of the audit trail', () => {
  it.each([
    [5, '5'],
    [0, '0'],
    [false, 'false'],
    ['gpt-4.1', 'gpt-4.1'],
    [['a', 'b'], 'a, b'],
    [[], 'none'],
    [null, 'none'],
  ])('%j → %s', (value, text) => {
    expect(valueText({ from: value, to: 1, redacted: false }, 'from')).toBe(text);
    expect(valueText({ from: 1, to: value, redacted: false }, 'to')).toBe(text);
  });

  it('a value that is not recorded → “not recorded”, not “none”', () => {
    expect(valueText({ from: null, to: null, redacted: true }, 'to')).toBe('not recorded');
  });

  it('details → one line; none → empty', () => {
    expect(detailsText({ name: 'Notes', revision: 2 })).toBe('name: Notes, revision: 2');
    expect(detailsText(null)).toBe('');
  });

  it.each([
    [{ details: { name: 'Notes', status: 'active' }, changes: [] }, { status: 'active' }],
    [{ details: { slug: 'xai', type: 'xai' }, changes: [] }, { type: 'xai' }],
    [{ details: { name: 'xAI', slug: 'xai' }, changes: [] }, { slug: 'xai' }],
    [{ details: { from: 'owner', to: 'admin' }, changes: [{}] }, {}],
    [
      { details: { from: 'owner', to: 'admin' }, changes: [] },
      { from: 'owner', to: 'admin' },
    ],
    [{ details: null, changes: [] }, {}],
  ])('%j → without what the sentence and the changes show', (entry, further) => {
    expect(furtherDetails(entry)).toEqual(further);
  });
});
