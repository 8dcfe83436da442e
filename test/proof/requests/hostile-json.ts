import type { Chance } from '../../support/chance.js';
import { LITERALS, STRANGE_NAMES } from './hostile-texts.js';

/** A value of JSON that is still to be written: literal text, a list, or members in order. */
type Node = string | Node[] | Members;

/** Names as written in JSON, and values; a name may occur twice. */
class Members {
  constructor(readonly entries: [name: string, value: Node][]) {}
}

/** One replacement of a value. */
type Change = (node: Node, chance: Chance) => Node;

const CHANGES: readonly Change[] = [
  (_node, chance) => chance.of(LITERALS),
  (_node, chance) => chance.of(LITERALS),
  (node, chance) => chance.of(alike(node)),
  (node, chance) => chance.of(alike(node)),
  (node, chance) => chance.of(alike(node)),
  (node) => [node],
  (node) => [node, node],
  (node) => new Members([['"value"', node]]),
  (node) => JSON.stringify(written(node)),
  (node, chance) => changedText(node, chance),
  (node, chance) => changedText(node, chance),
];

const MEMBER_CHANGES: readonly ((members: Members, chance: Chance) => void)[] = [
  ({ entries }, chance) => entries.splice(chance.below(entries.length), 1),
  ({ entries }, chance) => entries.push([JSON.stringify(chance.of(STRANGE_NAMES)), chance.of(LITERALS)]),
  ({ entries }, chance) => entries.unshift([JSON.stringify(chance.of(STRANGE_NAMES)), chance.of(LITERALS)]),
  ({ entries }, chance) => entries.push([chance.of(entries)[0], chance.of(LITERALS)]),
  ({ entries }, chance) => entries.push([escapedName(chance.of(entries)[0]), chance.of(LITERALS)]),
  ({ entries }, chance) => {
    const entry = chance.of(entries);
    entry[0] = JSON.stringify(chance.of(STRANGE_NAMES));
  },
];

/**
 * The text of a value after one to three changes at random depths; still JSON, or nearly.
 *
 * @param names further members that it may have.
 */
export function hostileJson(value: unknown, names: readonly string[], chance: Chance): string {
  let root = nodeOf(value);
  let left = 1 + chance.below(3);
  if (names.length > 0 && root instanceof Members && chance.is(0.3)) {
    root.entries.push([JSON.stringify(chance.of(names)), chance.of(LITERALS)]);
    left--;
  }
  for (; left > 0; left--) root = changed(root, chance, 0);
  return written(root);
}

/** Descends to a random depth and changes the value there. */
function changed(node: Node, chance: Chance, depth: number): Node {
  const goesOn = chance.is(depth === 0 ? 0.97 : 0.6);
  if (goesOn && Array.isArray(node) && node.length > 0) {
    const at = chance.below(node.length);
    return node.map((entry, index) => (index === at ? changed(entry, chance, depth + 1) : entry));
  }
  if (node instanceof Members && node.entries.length > 0) {
    if (goesOn && chance.is(0.75)) {
      const entry = chance.of(node.entries);
      entry[1] = changed(entry[1], chance, depth + 1);
      return node;
    }
    if (goesOn || chance.is(0.5)) {
      chance.of(MEMBER_CHANGES)(node, chance);
      return node;
    }
  }
  return chance.of(CHANGES)(node, chance);
}

/** Other values of the kind that a value is of. */
function alike(node: Node): readonly string[] {
  const kind = written(node).slice(0, 1);
  return LITERALS.filter((literal) => (/[-\d]/.test(kind) ? /^[-\d]/.test(literal) : literal.startsWith(kind)));
}

/** A text with something odd before, in or after it; another value as it is. */
function changedText(node: Node, chance: Chance): Node {
  if (typeof node !== 'string' || !node.startsWith('"')) return chance.of(LITERALS);
  const odd = chance.of([
    '\\u0000',
    '\\ud800',
    '\\udfff',
    ' ',
    '\\n',
    '\\t',
    '\\u202e',
    '\\u0000\\u0000',
    'x'.repeat(300),
  ]);
  const inner = node.slice(1, -1);
  return chance.of([`"${odd}${inner}"`, `"${inner}${odd}"`, `"${inner}${inner}"`, JSON.stringify(inner.toUpperCase())]);
}

/** The same name in other letters, once it is read. */
function escapedName(name: string): string {
  const [first = 'a'] = name.slice(1);
  return `"\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(2)}`;
}

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return value.map(nodeOf);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return new Members(entries.map(([name, inner]) => [JSON.stringify(name), nodeOf(inner)]));
}

function written(node: Node): string {
  if (typeof node === 'string') return node;
  if (Array.isArray(node)) return `[${node.map(written).join(',')}]`;
  return `{${node.entries.map(([name, value]) => `${name}:${written(value)}`).join(',')}}`;
}

/** Bytes that no parser may accept as the JSON of a value. */
export function brokenJson(value: unknown, chance: Chance): Buffer {
  const text = JSON.stringify(value);
  const whole = Buffer.from(text);
  const inside = 1 + chance.below(Math.max(whole.length - 1, 1));
  return chance.of<() => Buffer>([
    () => Buffer.alloc(0),
    () => Buffer.from(chance.of([' ', 'null', '[]', '"a"', '1', 'NaN', 'undefined', '[object Object]', '{', '\u0000'])),
    () => whole.subarray(0, inside),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole]),
    () => Buffer.concat([whole.subarray(0, inside), Buffer.from([0xff]), whole.subarray(inside)]),
    () => Buffer.concat([whole, Buffer.from(chance.of(['}', ',', 'null', '\u0000', text, '//']))]),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.from(`[${text}]`),
    () => Buffer.from(text.replaceAll('"', "'")),
    () => Buffer.from(text.replace('{', '{/**/')),
    () => Buffer.from(text.replace('{', '{"a":"\u0001",')),
    () => Buffer.from(text.replace('{', '{"a":1,"a":2,')),
    () => Buffer.from(text.replace('{', `{${text.slice(1, -1)},`)),
    () => Buffer.from(text.replace('{', `{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)},`)),
    () => Buffer.from(text.replace('{', '{a:1,')),
    () => Buffer.from(text.replace('{', '{"a":01,')),
    () => Buffer.from(text.replace('{', '{"a":"\\x41",')),
  ])();
}
