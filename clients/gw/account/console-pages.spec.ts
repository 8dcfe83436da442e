import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { APP_TABS, PAGES } from './console-pages.js';

const ROOT = new URL('../../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

it.each(PAGES)('gw open %s → a page that the service has', (_name, path) => {
  expect(textOf('test/contract/access-table.txt')).toContain(`GET    ${path} `);
});

it.each(APP_TABS)('gw open %s --app → a page that the console has', (tab) => {
  expect(textOf('clients/console/src/apps/app-tabs.ts')).toMatch(new RegExp(`^  '?${tab}'?: `, 'm'));
});
