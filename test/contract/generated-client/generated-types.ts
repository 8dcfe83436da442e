import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./program/', import.meta.url));
/** What the program imports the types from. They are generated in every run, and not stored. */
const TYPES = `${PROGRAM}served.d.ts`;

/** The types of the document, as in a generated client. */
export async function typesOf(document: object): Promise<string> {
  return astToString(await openapiTS(Buffer.from(JSON.stringify(document))));
}

/** Compiles the program against those types, with the settings of the project. @returns its errors. */
export function problemsWith(types: string): string[] {
  const { config }: { config?: object } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent({ ...config, exclude: [], include: [PROGRAM] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(parsed.options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => (path === TYPES ? types : readFile(path));
  host.fileExists = (path) => path === TYPES || fileExists(path);
  const text = (path: string) => (path === TYPES ? types : readFileSync(path, 'utf8'));
  host.getSourceFile = (path, version) =>
    host.fileExists(path) ? ts.createSourceFile(path, text(path), version, true) : undefined;
  const program = ts.createProgram([...parsed.fileNames, TYPES], parsed.options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName.replace(PROGRAM, '')}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
