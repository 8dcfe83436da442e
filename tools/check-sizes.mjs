/**
 * Limits the size of the project to `tools/sizes.json`: files and lines of code of each room, words of the documents
 * that people write, npm scripts, parameters of constructors, raw statements. `npm run check` fails if a size exceeds
 * its line there, so that growth is a line of a commit; `node tools/check-sizes.mjs --write` writes the current sizes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const SIZES = join(ROOT, 'tools/sizes.json');
/** Written by `npm run docs`. */
const GENERATED = /^docs\/(?:cli|configuration|errors|identity-providers|log-events|metrics|reasons|schema)\.md$/;
const IS_CODE = /^(?:src|clients\/gw|clients\/console\/src)\/.+(?<!\.spec|\.d)\.tsx?$/;
const NO_CODE = /^\s*(?:\/\/|\/\*|\*|$)/;
/** Constructors with more parameters have a line in `sizes.json`. */
const MOST_PARAMETERS = 8;
const RAW_STATEMENT = /\.query(?:<[^(]*>)?\(/g;

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && ts.sys.fileExists(join(ROOT, path)));

/** @type {Record<string, number>} The measured sizes, by name. */
const sizes = {};
const add = (name, count) => {
  sizes[name] = (sizes[name] ?? 0) + count;
};

for (const path of paths.filter((name) => IS_CODE.test(name))) {
  const text = read(path);
  const place = path.split('/').slice(0, -1).slice(0, 2).join('/');
  add(`${place}: files`, 1);
  add(`${place}: lines of code`, text.split('\n').filter((line) => !NO_CODE.test(line)).length);
  if (!path.startsWith('src/')) continue;
  add('raw statements', text.match(RAW_STATEMENT)?.length ?? 0);
  measureConstructors(path, text);
}
for (const path of paths.filter((name) => name.endsWith('.md') && !GENERATED.test(name))) {
  add('documents: words', read(path).split(/\s+/).filter(Boolean).length);
}
add('documents: decision records', paths.filter((path) => path.startsWith('docs/adr/')).length);
add('npm scripts', Object.keys(JSON.parse(read('package.json')).scripts).length);

function measureConstructors(path, text) {
  const visit = (node) => {
    if (ts.isConstructorDeclaration(node) && node.parameters.length > MOST_PARAMETERS) {
      add(`constructor of ${node.parent.name?.text}: parameters`, node.parameters.length);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
}

if (process.argv.includes('--write')) {
  const sorted = Object.fromEntries(Object.entries(sizes).sort(([a], [b]) => a.localeCompare(b)));
  writeFileSync(SIZES, `${JSON.stringify(sorted, null, 2)}\n`);
} else {
  const allowed = JSON.parse(readFileSync(SIZES, 'utf8'));
  const larger = Object.entries(sizes).filter(([name, size]) => size > (allowed[name] ?? 0));
  for (const [name, size] of larger) process.stdout.write(`${name}: ${size}, allowed ${allowed[name] ?? 0}\n`);
  if (larger.length > 0) {
    process.stdout.write('Make it smaller, or raise its line in tools/sizes.json and say why in the commit.\n');
    process.exitCode = 1;
  }
}
