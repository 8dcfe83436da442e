import type { Type } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { trimmedMembers } from './fields.js';

const NOT_KNOWN = 'is not a known member';

/**
 * Makes an instance of a class with field decorators of what was sent, member by member: nothing of the sender's reaches
 * a setter or a prototype.
 *
 * @param unknown what to do with members the class does not know.
 * @throws invalid_request naming the first member that is wrong; the code of a missing member that has one of its own.
 * Source: contract-admin 0.1.
 */
export function readShape<T extends object>(
  type: Type<T>,
  members: readonly [string, unknown][],
  unknown: 'refuse' | 'ignore' = 'refuse',
): T {
  const instance = new type();
  const trims = trimmedMembers(type);
  for (const [name, sent] of members) {
    // An own `constructor` would hide the class from its validator, and other inherited names would count as known.
    if (name in Object.prototype) {
      if (unknown === 'ignore') continue;
      throw invalidRequest(name, NOT_KNOWN);
    }
    const value = trims.has(name) && typeof sent === 'string' ? sent.trim() : sent;
    Object.defineProperty(instance, name, { value, enumerable: true, writable: true, configurable: true });
  }
  const [first, ...others] = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: unknown === 'refuse',
    forbidUnknownValues: false,
    stopAtFirstError: true,
  });
  if (first) throw refusalOf([first, ...others]);
  return instance;
}

/** A missing member with a code of its own is answered before any other problem. */
function refusalOf(problems: readonly ValidationError[]): GatewayError {
  for (const problem of problems) {
    const code: ErrorCode | undefined = problem.contexts?.field?.missingCode;
    if (code && problem.value === undefined) return new GatewayError(code);
  }
  const first = problems[0];
  const path = first?.property ?? 'body';
  const text = first?.constraints?.whitelistValidation ? NOT_KNOWN : Object.values(first?.constraints ?? {})[0];
  return invalidRequest(path, text ?? 'is not valid');
}
