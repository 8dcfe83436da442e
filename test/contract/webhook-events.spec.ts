import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES } from '../../src/webhooks/event-types.js';

const LIST = 'src/webhooks/event-types.ts';
const TYPES = Object.keys(EVENT_TYPES);
const ACTION = /\baction: '([a-z_]+\.[a-z_]+)'/g;

const sources = globSync('src/**/*.ts')
  .filter((path) => !path.endsWith('.spec.ts') && path !== LIST)
  .map((path) => readFileSync(path, 'utf8'));

describe('event types of webhooks', () => {
  it('every audited action → is an event type', () => {
    const audited = sources.flatMap((text) => [...text.matchAll(ACTION)].map(([, action = '']) => action));
    expect(audited.length).toBeGreaterThan(20);
    expect(audited.filter((action) => !TYPES.includes(action))).toEqual([]);
  });

  it('every event type → emitted by the sources', () => {
    const all = sources.join('\n');
    const unused = TYPES.filter((type) => {
      const [subject = '', verb = ''] = type.split('.');
      return !all.includes(`'${type}'`) && !(all.includes(`\`${subject}.\${`) && all.includes(`'${verb}'`));
    });
    expect(unused).toEqual([]);
  });
});
