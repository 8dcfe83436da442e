import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENT = readFileSync(`${ROOT}docs/extending.md`, 'utf8');
/** An example whose first line names its file. */
const EXAMPLE = /```ts\n\/\/ ((?:src|examples\/extension)\/[\w./-]+\.ts)\n([\s\S]*?)```/g;
const SAMPLE = `${ROOT}examples/extension/`;
const SETTINGS = /```json\n([\s\S]*?)```/g;
const COMPILING_MS = 120_000;

const examples = new Map([...DOCUMENT.matchAll(EXAMPLE)].map(([, path = '', text = '']) => [`${ROOT}${path}`, text]));

/** Compiles the examples at their paths, with the settings of the project. @returns their errors. */
function problemsOf(texts: ReadonlyMap<string, string>): string[] {
  const { config }: { config?: object } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version, true);
  };
  const program = ts.createProgram([...texts.keys()], { ...options, noEmit: true }, host);
  return [...texts.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  });
}

const ofSample = new Map([...examples].filter(([path]) => path.startsWith(SAMPLE)));
const ofOthers = new Map([...examples].filter(([path]) => !path.startsWith(SAMPLE)));

describe('examples of docs/extending.md', () => {
  it('each names the file it belongs to', () => {
    expect(examples.size).toBe(DOCUMENT.split('```ts\n').length - 1);
    expect(ofOthers.size).toBeGreaterThan(0);
  });

  it(
    'each one outside the sample → compiles against the names of the gateway',
    () => {
      expect(problemsOf(ofOthers)).toEqual([]);
    },
    COMPILING_MS,
  );

  it('the sample, which is compiled, started and called by other tests → every file, word for word', () => {
    const files = readdirSync(SAMPLE).filter((name) => name.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(0);
    expect(Object.fromEntries(ofSample)).toEqual(
      Object.fromEntries(files.map((name) => [SAMPLE + name, readFileSync(SAMPLE + name, 'utf8')])),
    );
  });

  it('build settings → those of the sample', () => {
    const shown = [...DOCUMENT.matchAll(SETTINGS)].map(([, text]) => text);
    expect(shown).toEqual([readFileSync(`${SAMPLE}tsconfig.json`, 'utf8')]);
  });
});
