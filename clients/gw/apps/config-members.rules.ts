import type { AppConfig } from '../configuration/configuration-files.js';
import { Failure } from '../program/failure.js';

/**
 * A configuration with the members of `--set`.
 *
 * @param typed each `<path>=<value>`: names of members separated by dots, and JSON, or a text that is not JSON. Without
 *   a value the member is removed.
 * @throws Failure a path leads into a value that has no members.
 */
export function withMembers(config: AppConfig, typed: readonly string[]): AppConfig {
  return typed.reduce<unknown>((changed, text) => {
    const at = text.indexOf('=');
    const names = text.slice(0, Math.max(at, 0)).split('.');
    if (names.includes('')) throw wrong(text, 'must be <path>=<value>, as limits.per_user.requests.per_day=100');
    return withMember(changed, names, parsedValue(text.slice(at + 1)), text);
  }, config) as AppConfig;
}

function withMember(parent: unknown, [name = '', ...rest]: readonly string[], value: unknown, text: string): unknown {
  if (typeof parent !== 'object' || Array.isArray(parent))
    throw wrong(text, `${name} is inside a value without members`);
  const members = Object.entries(parent ?? {});
  const before = members.find(([key]) => key === name)?.[1];
  const after = rest.length === 0 ? value : withMember(before ?? {}, rest, value, text);
  if (before === undefined) members.push([name, after]);
  return Object.fromEntries(
    members.flatMap(([key, old]) => (key !== name ? [[key, old]] : after === undefined ? [] : [[key, after]])),
  );
}

function parsedValue(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function wrong(text: string, problem: string): Failure {
  return Failure.input('invalid_option', `--set ${text}: ${problem}.`, {
    nextAction: 'See the members: gw app show <app> --json',
  });
}
