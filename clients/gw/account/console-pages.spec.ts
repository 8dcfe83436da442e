import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { APP_TABS, PAGES } from './console-pages.js';

const ROOT = new URL('../../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

it.each(PAGES)('gw open %s → an existing page of the service', (_name, path) => {
  expect(textOf('test/contract/access-table.txt')).toContain(`GET    ${path} `);
});

it.each(APP_TABS)('gw open %s --app → an existing page of the console', (tab) => {
  expect(textOf('clients/console/src/apps/app-tabs.ts')).toMatch(new RegExp(`^  '?${tab}'?: `, 'm'));
});
