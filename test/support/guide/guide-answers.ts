import { expect } from '@jest/globals';

/** Members whose values differ from run to run: they are there, and of the type that the guide shows. */
const VOLATILE = new Set(['id', 'challenge', 'access_token', 'latency_ms', 'duration_ms', 'created_at']);
const SECONDS = /\b\d+(?= s\b)|(?<=^retry-after: )\d+/gm;

/** The last JSON answer that a block has printed; undefined without one. */
export function lastAnswer(output: string): unknown {
  const line = output.split('\n').findLast((text) => text.startsWith('{'));
  return line === undefined ? undefined : JSON.parse(line);
}

/** The member of an answer that a path such as `app.id` names. */
export function memberOf(answer: unknown, path: string): string {
  const member = path.split('.').reduce<unknown>((value, name) => Object(value)[name], answer);
  if (typeof member !== 'string') throw new Error(`${path} is not a text in ${JSON.stringify(answer)}`);
  return member;
}

/** Fails unless the last answer has every member that the guide shows, with its value. */
export function expectAnswer(output: string, shown: string): void {
  expect(fixed(lastAnswer(output))).toMatchObject(Object(fixed(JSON.parse(shown))));
}

/** Fails unless the output has every line that the guide shows. */
export function expectLines(output: string, shown: string): void {
  const lines = timeless(output).split(/\r?\n/);
  for (const line of timeless(shown).split('\n')) expect(lines).toContain(line);
}

function fixed(value: unknown): unknown {
  const replaced = (name: string, member: unknown) => (VOLATILE.has(name) ? typeof member : member);
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value, replaced));
}

function timeless(text: string): string {
  return text.replaceAll(SECONDS, 'n');
}
