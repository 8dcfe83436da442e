import { expect, it } from '@jest/globals';
import { newConfig } from './app-config.rules';
import { changedTabs } from './changed-tabs.rules';
import type { Draft } from './draft-merge.rules';

const config = newConfig({ kind: 'server', teamId: '', bundleId: '', allowsDevelopment: false });
const base: Draft = { name: 'Journal', status: 'active', config };
const of = (changed: Partial<Draft['config']>): Draft => ({ ...base, config: { ...config, ...changed } });

it.each([
  [base, []],
  [of({ limits: { per_app: { spending: { monthly_usd: 0 } } } }), ['limits']],
  [of({ allowed_origins: ['https://app.example.com'] }), ['auth']],
  [of({ routing: { providers: { mode: 'selected', selected: {} }, model_rewrites: {} } }), ['proxy']],
  [of({ endpoints: {} }), ['endpoints']],
  [of({ streams: { resume_seconds: 60 } }), ['endpoints']],
  [{ ...of({ limits: {} }), name: 'Diary' }, ['limits', 'settings']],
] as const)('%j → the tabs that contain the changes', (draft, tabs) => {
  expect(changedTabs(base, draft)).toEqual(tabs);
});
