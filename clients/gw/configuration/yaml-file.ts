import { Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { invalid, Problems } from './problems.js';

/** Content of a YAML file, and the places of its parts. */
export interface YamlContent {
  readonly value: unknown;
  /** The line of a part, or of the nearest part around it. @param path as `config.limits`. */
  lineOf(path: string): number;
}

/** Reads YAML 1.2 without tags. @param name for messages. @throws Failure with the line, if it is not valid. */
export function parseYaml(name: string, text: string): YamlContent {
  const lines = new LineCounter();
  const at = (line: number) => ({ file: name, line, path: '' });
  // Pretty errors quote the text, which may contain secrets.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = new Problems();
  for (const { message, pos } of [...document.errors, ...document.warnings]) {
    const said = /stack/i.test(message) ? 'is nested too deeply' : message;
    problems.add(invalid(at(lines.linePos(pos[0]).line), said));
  }
  problems.throwIfAny();
  const lineOf = (path: string) => {
    const segments = path.split('.');
    for (let length = segments.length; length > 0; length--) {
      const node = document.getIn(segments.slice(0, length), true);
      const start = isNode(node) ? node.range?.[0] : undefined;
      if (start !== undefined) return lines.linePos(start).line;
    }
    return 1;
  };
  try {
    return { value: document.toJS(), lineOf };
  } catch (error) {
    throw invalid(at(1), error instanceof Error ? error.message : String(error));
  }
}

/** The comments of a written file. */
interface Surroundings {
  /** Path of the schema from the file, for editors. */
  readonly schema: string;
  /** Comment at the top. */
  readonly head: string;
  /** Comments by the path of the following member. */
  readonly comments: Readonly<Record<string, string>>;
}

/** YAML of a value, in the same order for the same value. */
export function renderYaml(value: object, { schema, head, comments }: Surroundings): string {
  const document = new Document(ordered(value));
  document.commentBefore = [`yaml-language-server: $schema=${schema}`, ...head.split('\n')]
    .map((line) => ` ${line}`)
    .join('\n');
  for (const [path, comment] of Object.entries(comments)) commentOn(document, path.split('.'), comment);
  return document.toString({ lineWidth: 0 });
}

function commentOn(document: Document, path: readonly string[], comment: string): void {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return;
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
  if (pair !== undefined && isScalar(pair.key)) pair.key.commentBefore = ` ${comment}`;
}

/** Members that come first, in this order; all others follow by name. */
const FIRST = [
  ...['slug', 'type', 'name', 'handle', 'status', 'baseUrl', 'providerGateway', 'gatewayRoute', 'pricing', 'config'],
  ...['authentication', 'routing', 'limits', 'endpoints', 'source', 'mode', 'provider', 'model', 'api_style', 'path'],
];
const RANKS = new Map(FIRST.map((name, rank) => [name, rank]));

/** A value with its members in a fixed order. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const rankOf = (name: string) => RANKS.get(name) ?? FIRST.length;
  const members = Object.entries(value).sort(
    ([one], [other]) => rankOf(one) - rankOf(other) || (one < other ? -1 : one > other ? 1 : 0),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, ordered(member)]));
}
