import type { Colour } from '../terminal/terminal.js';
import type { FieldChange } from './difference.rules.js';

/** A change that makes the account what the directory says. */
export interface Change {
  readonly kind: 'provider' | 'app';
  readonly action: 'create' | 'update' | 'remove';
  /** Slug of a provider, handle of an application. */
  readonly name: string;
  /** Null for what is to be created. */
  readonly id: string | null;
  readonly fields: readonly FieldChange[];
  /** What it means for callers, a sentence each. */
  readonly meaning: readonly string[];
}

/** Something that `gw apply` needs and does not have. */
export interface Missing {
  readonly name: string;
  readonly problem: string;
  readonly nextAction: string;
}

/** What `gw apply` would do. */
export interface Plan {
  readonly changes: readonly Change[];
  readonly missing: readonly Missing[];
  /** What the account has and the directory does not own: left alone without `--prune`. */
  readonly unowned: { readonly apps: readonly string[]; readonly providers: readonly string[] };
  /** Handles of applications whose first key goes to `--key-output`. */
  readonly newKeys: readonly string[];
}

const SIGNS = { create: '+', update: '~', remove: '-' } as const;
const DONE = { create: 'created', update: 'changed', remove: 'removed' } as const;
const KINDS = { provider: 'provider', app: 'application' } as const;

const COLOURS: Readonly<Record<string, Colour>> = { '+': 'green', '~': 'yellow', '-': 'red', '!': 'yellow' };

/** Lines of a plan are coloured by their sign. */
export const planColour = (line: string): Colour | undefined => COLOURS[line.trimStart().charAt(0)];

/** A plan for people. */
export function planText({ changes, missing, unowned, newKeys }: Plan): string {
  const lines = changes.flatMap(({ kind, action, name, fields, meaning }) => [
    `${SIGNS[action]} ${action} ${KINDS[kind]} ${name}`,
    ...fields.map((field) => `    ${fieldText(field)}`),
    ...meaning.map((sentence) => `    ! ${sentence}`),
  ]);
  const left = [
    ...unowned.apps.map((name) => `application ${name}`),
    ...unowned.providers.map((slug) => `provider ${slug}`),
  ];
  return [
    ...(changes.length === 0 ? ['The account matches the directory.'] : lines),
    ...(changes.length === 0 ? [] : ['', summaryOf(changes)]),
    ...(newKeys.length === 0
      ? []
      : [`First keys are created for ${newKeys.join(', ')}: give apply --key-output <directory>.`]),
    ...missing.map(({ problem, nextAction }) => `Missing: ${problem} ${nextAction}`),
    ...(left.length === 0 ? [] : [`Not in the directory, and unchanged without --prune: ${left.join(', ')}.`]),
  ].join('\n');
}

/** What has been done, for people. */
export function doneText(changes: readonly Change[]): string {
  return changes.map(({ kind, action, name }) => `${SIGNS[action]} ${DONE[action]} ${KINDS[kind]} ${name}`).join('\n');
}

function summaryOf(changes: readonly Change[]): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  return `${count('create')} to create, ${count('update')} to change, ${count('remove')} to remove.`;
}

function fieldText({ path, before, after }: FieldChange): string {
  if (before === undefined) return `+ ${path}: ${JSON.stringify(after)}`;
  if (after === undefined) return `- ${path}: ${JSON.stringify(before)}`;
  return `~ ${path}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
}
