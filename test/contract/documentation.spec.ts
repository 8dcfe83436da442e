import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HOSTILE = `# Title <b>bold</b>

<script>alert(1)</script>

<picture><source srcset="x"><img src="x" onerror="alert(1)"></picture>

Text <img src=x onerror=alert(1)> and [a](javascript:alert(1)), [b](JaVaScRiPt:alert(1)), [c](data:text/html,x),
[d](//evil.example/x), [e](https://example.com/"onclick="x), ![f](https://evil.example/x.png), <javascript:alert(1)>,
[g](CHANGELOG.md#there), [h](src/main.ts), [i](#the-last-part), [k](../outside.md), [l](CHANGELOG.md "a <title>").

## \`code\` & "more"

| Name | Means |
|---|---|
| \`a_name\` | <i>one</i> |
| \`"><script>\` | two |

\`\`\`html"><script>
</code></pre><script>alert(1)</script>
\`\`\`

## The last part
`;

let folder: string;
let html: string;
let other: string;

interface Listing {
  readonly files: Readonly<Record<string, { readonly name: string }>>;
}

function pageAt(address: string): string {
  const { files }: Listing = JSON.parse(readFileSync(join(folder, 'out/files.json'), 'utf8'));
  const text = readFileSync(join(folder, 'out', files[address]?.name ?? ''), 'utf8');
  return text.slice(text.indexOf('<main'), text.indexOf('</main>'));
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-documentation-'));
  mkdirSync(join(folder, 'docs/adr'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), HOSTILE);
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Other\n\n## There\n\n[back](README.md#the-last-part)\n\n## There\n');
  const [module, web] = [join(ROOT, 'tools/documentation.mjs'), join(ROOT, 'dist/web')];
  const program = `const { writeDocumentation } = await import(${JSON.stringify(module)});
    writeDocumentation(${JSON.stringify(web)}, 'out');`;
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
  html = pageAt('/docs');
  other = pageAt('/docs/changelog');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('tools/documentation.mjs', () => {
  it('markup in a document → text', () => {
    const elements = new Set([...html.matchAll(/<(\w+)/g)].map(([, name]) => name));
    expect([...elements].sort()).toEqual(
      ['a', 'code', 'div', 'h1', 'h2', 'main', 'nav', 'p', 'pre', 'table', 'tbody', 'td', 'th', 'thead', 'tr'].sort(),
    );
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('Title &lt;b&gt;bold&lt;/b&gt;');
    for (const [tag] of html.matchAll(/<[^>]*>/g)) expect(tag).not.toMatch(/\son\w+=|javascript:|data:/i);
  });

  it('links → to pages, to their sections and to https; files that are not served get no link', () => {
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      ...['https://example.com/&quot;onclick=&quot;x', '/docs/changelog#there', '#the-last-part', '/docs/changelog'],
      ...['#code--more', '#the-last-part', '/docs/changelog'],
    ]);
    expect(html).toMatch(/, h, .*, k, /s);
    expect(other).toContain('href="/docs#the-last-part"');
  });

  it('anchors → as GitHub makes them, even of a repeated heading; of a row by its name', () => {
    const ids = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids(html)).toEqual(['_content', 'title-bboldb', 'code--more', 'a_name', 'the-last-part']);
    expect(ids(other)).toEqual(['_content', 'other', 'there', 'there-1']);
  });
});
