import type { Colour } from '../terminal/terminal.js';
import type { FieldChange } from './difference.rules.js';

/** A change that brings the account in line with the directory. */
export interface Change {
  readonly kind: 'provider' | 'app';
  /** `rename`: an application gets the handle of its file; `adopt`: it had none. */
  readonly action: 'create' | 'update' | 'rename' | 'adopt' | 'remove';
  /** Slug of a provider, handle of an application. */
  readonly name: string;
  /** Null for a creation. */
  readonly id: string | null;
  readonly fields: readonly FieldChange[];
  /** Its effects on callers, one sentence each. */
  readonly meaning: readonly string[];
}

/** Something missing that `gw apply` needs. */
export interface Missing {
  readonly name: string;
  readonly problem: string;
  readonly nextAction: string;
}

/** What `gw apply` would do. */
export interface Plan {
  readonly changes: readonly Change[];
  readonly missing: readonly Missing[];
  /** Objects of the account that the directory does not own: kept without `--prune`. */
  readonly unowned: { readonly apps: readonly string[]; readonly providers: readonly string[] };
  /** Handles of applications whose first key goes to `--key-output`. */
  readonly newKeys: readonly string[];
}

const SIGNS = { create: '+', update: '~', rename: '~', adopt: '~', remove: '-' } as const;
const DONE = {
  ...{ create: 'created', update: 'changed', rename: 'renamed', adopt: 'adopted', remove: 'removed' },
} as const;
const KINDS = { provider: 'provider', app: 'application' } as const;

const COLOURS: Readonly<Record<string, Colour>> = { '+': 'green', '~': 'yellow', '-': 'red', '!': 'yellow' };

/** Lines of a plan are coloured by their sign. */
export const planColour = (line: string): Colour | undefined => COLOURS[line.trimStart().charAt(0)];

/** A change for people: the change, the differences, and its effects. */
export function changeLines({ kind, action, name, fields, meaning }: Change): readonly string[] {
  const handle = fields.find(({ path }) => path === 'handle')?.before;
  const from = typeof handle === 'string' && (action === 'rename' || action === 'adopt') ? `${handle} as ` : '';
  return [
    `${SIGNS[action]} ${action} ${KINDS[kind]} ${from}${name}`,
    ...fields.map((field) => `    ${fieldText(field)}`),
    ...meaning.map((sentence) => `    ! ${sentence}`),
  ];
}

/** A plan for people. */
export function planText(plan: Plan): string {
  const { changes } = plan;
  return [
    ...(changes.length === 0 ? ['The account matches the directory.'] : changes.flatMap(changeLines)),
    ...(changes.length === 0 ? [] : ['', countsOf(changes)]),
    ...remarksOn(plan),
  ].join('\n');
}

/** What a plan needs, and what it keeps. */
export function remarksOn({ missing, unowned, newKeys }: Plan): readonly string[] {
  const left = [
    ...unowned.apps.map((name) => `application ${name}`),
    ...unowned.providers.map((slug) => `provider ${slug}`),
  ];
  return [
    ...(newKeys.length === 0
      ? []
      : [`First keys are created for ${newKeys.join(', ')}; apply writes them to the directory of --key-output.`]),
    ...missing.map(({ problem, nextAction }) => `Missing: ${problem} ${nextAction}`),
    ...(left.length === 0 ? [] : [`Not in the directory, and unchanged without --prune: ${left.join(', ')}.`]),
  ];
}

/** The changes made, for people. */
export function doneText(changes: readonly Change[]): string {
  return changes.map(({ kind, action, name }) => `${SIGNS[action]} ${DONE[action]} ${KINDS[kind]} ${name}`).join('\n');
}

/** The changes not made, for people. */
export function openText(changes: readonly Change[]): string {
  return changes.map(({ kind, action, name }) => `  not made: ${action} ${KINDS[kind]} ${name}`).join('\n');
}

/** How many changes of each kind. */
export function countsOf(changes: readonly Change[]): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  const kept = (['rename', 'adopt'] as const).filter((action) => count(action) > 0);
  return [
    ...[`${count('create')} to create`, `${count('update')} to change`],
    ...[...kept.map((action) => `${count(action)} to ${action}`), `${count('remove')} to remove`],
  ]
    .join(', ')
    .concat('.');
}

function fieldText({ path, before, after }: FieldChange): string {
  if (before === undefined) return `+ ${path}: ${excerpt(after)}`;
  if (after === undefined) return `- ${path}: ${excerpt(before)}`;
  const same = sharedStart(JSON.stringify(before), JSON.stringify(after));
  return `~ ${path}: ${excerpt(before, same)} -> ${excerpt(after, same)}`;
}

const MOST_OF_VALUE = 160;
const BEFORE_DIFFERENCE = 40;

/** A value on one line; of a long one the part where the difference starts. */
function excerpt(value: unknown, difference = 0): string {
  const text = JSON.stringify(value);
  if (text.length <= MOST_OF_VALUE) return text;
  const start = Math.max(0, Math.min(difference - BEFORE_DIFFERENCE, text.length - MOST_OF_VALUE));
  const end = start + MOST_OF_VALUE;
  const part = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start === 0 ? '' : '…'}${part}${end >= text.length ? '' : '…'} (${text.length} characters)`;
}

function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
