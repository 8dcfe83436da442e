import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ASSETS = new URL('../../dist/web/assets/', import.meta.url);
const PAGE = new URL('../../dist/web/index.html', import.meta.url);
/** Maximum compressed size of the first page, without charts. */
const FIRST_PAGE_BYTES = 150_000;
const IMPORT = /(?:from|import)\s*["']\.\/([\w-]+\.js)["']/g;

const NAMES = readdirSync(ASSETS);
const compressed = (name: string) => statSync(new URL(`${name}.br`, ASSETS)).size;

/** A chunk and everything that it imports before it runs. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, imported = ''] of readFileSync(new URL(name, ASSETS), 'utf8').matchAll(IMPORT)) {
    withImports(imported, seen);
  }
  return seen;
}

function chunkOf(page: string): string {
  const chunk = NAMES.find((name) => name.startsWith(`${page}-`) && name.endsWith('.js'));
  if (chunk === undefined) throw new Error(`${page} has no chunk`);
  return chunk;
}

describe('the built console', () => {
  const html = readFileSync(PAGE, 'utf8');
  const linked = [...html.matchAll(/\/assets\/([\w-]+\.(?:js|css))/g)].map(([, name = '']) => name);

  it.each(['apps-page', 'start-page', 'app-page'])('%s → at most 150 kB, without charts', (page) => {
    const scripts = [...linked.filter((name) => name.endsWith('.js')), chunkOf(page)];
    const files = new Set([...linked, ...scripts.flatMap((name) => [...withImports(name)])]);
    const total = [...files].reduce((sum, name) => sum + compressed(name), 0);
    expect(files.has(chunkOf('usage-chart'))).toBe(false);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(FIRST_PAGE_BYTES);
  });

  it('every script, style and picture → compressed at the build', () => {
    const plain = NAMES.filter((name) => /\.(?:js|css|svg)$/.test(name));
    expect(plain.length).toBeGreaterThan(20);
    expect(plain.filter((name) => !NAMES.includes(`${name}.br`) || !NAMES.includes(`${name}.gz`))).toEqual([]);
  });
});
