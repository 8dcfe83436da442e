import type { Type } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { shownName } from '../errors/shown-text.rules.js';
import { ignoresOthers, knownMembers, trimmedMembers } from './fields.js';

/**
 * Makes an instance of a class with field decorators of what was sent. Only members the class knows are taken over, each
 * for itself: nothing of the sender's reaches a setter or a prototype. Other members, however many, cost next to nothing
 *; they are refused, unless the class ignores them.
 *
 * @param sent a JSON object.
 * @throws invalid_request naming the first member that is wrong; the code of a missing member that has one of its own.
 * Source: docs/reference/management-api.md#requests-and-bodies.
 */
export function readShape<T extends object>(type: Type<T>, sent: object): T {
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
  const refusal = refusalOf(problems, stranger);
  if (refusal) throw refusal;
  return instance;
}

/** A missing member with a code of its own is answered before any other problem, an unknown one before the rest. */
function refusalOf(problems: readonly ValidationError[], stranger: string | undefined): GatewayError | undefined {
  for (const problem of problems) {
    const code: ErrorCode | undefined = problem.contexts?.field?.missingCode;
    if (code && problem.value === undefined) return new GatewayError(code);
  }
  if (stranger !== undefined) return invalidRequest(shownName(stranger), 'is not a known member');
  const [first] = problems;
  return first && invalidRequest(first.property, Object.values(first.constraints ?? {})[0] ?? 'is not valid');
}
