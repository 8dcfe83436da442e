import type { Type } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import { shownName } from '../errors/display-text.rules.js';
import type { RefusalCode } from '../errors/error-catalogue.js';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { ignoresOthers, knownMembers, trimmedMembers } from './fields.js';

/**
 * Creates and validates an instance of a class with field decorators from client input. It defines only known members,
 * so input reaches no setter or prototype. Unknown members cost almost nothing, however many; they are refused unless
 * the class ignores them.
 *
 * @param sent a JSON object.
 * @param path of that object in the body, such as `client`; absent at the root.
 * @throws invalid_request naming the first invalid member, or the own error code of a missing member.
 * Source: docs/reference/management-api.md#requests-and-bodies.
 */
export function readShape<T extends object>(type: Type<T>, sent: object, path?: string): T {
  const instance = new type();
  const known = knownMembers(type);
  const trims = trimmedMembers(type);
  for (const name of known) {
    if (!Object.hasOwn(sent, name)) continue;
    const member: unknown = Reflect.get(sent, name);
    const value = trims.has(name) && typeof member === 'string' ? member.trim() : member;
    Object.defineProperty(instance, name, { value, enumerable: true, writable: true, configurable: true });
  }
  const problems = validateSync(instance, { forbidUnknownValues: false, stopAtFirstError: true });
  const stranger = ignoresOthers(type) ? undefined : Object.keys(sent).find((name) => !known.has(name));
  const refusal = refusalOf(problems, stranger, path === undefined ? '' : `${path}.`);
  if (refusal) throw refusal;
  return instance;
}

/** The order of refusals: a missing member with its own code, an unknown member, any other problem. */
function refusalOf(
  problems: readonly ValidationError[],
  stranger: string | undefined,
  prefix: string,
): GatewayError | undefined {
  for (const problem of problems) {
    const code: RefusalCode | undefined = problem.contexts?.field?.missingCode;
    if (code && problem.value === undefined) return new GatewayError(code);
  }
  if (stranger !== undefined) return invalidRequest(`${prefix}${shownName(stranger)}`, 'is not a known member');
  const [first] = problems;
  return (
    first && invalidRequest(`${prefix}${first.property}`, Object.values(first.constraints ?? {})[0] ?? 'is not valid')
  );
}
