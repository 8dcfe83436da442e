import type { INestApplication } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { controllerMethods } from '../http/access.js';
import { knownMembers } from './fields.js';

/**
 * Refuses request classes with plain class-validator decorators: a member with only these would be refused as unknown,
 * and missing from the documents.
 *
 * @throws Error naming each member: the service does not start.
 */
export function requireDeclaredMembers(app: INestApplication): void {
  const undeclared = [...requestTypes(app)].flatMap(undeclaredMembers);
  if (undeclared.length === 0) return;
  throw new Error(
    `Members with class-validator decorators: ${undeclared.join(', ')}. ` +
      'Declare them with @Text, @Int and others of src/common/fields/fields.ts.',
  );
}

/** The classes of all parameters of all handlers. */
function requestTypes(app: INestApplication): ReadonlySet<unknown> {
  const types = new Set<unknown>();
  for (const { prototype, name } of controllerMethods(app)) {
    for (const type of Reflect.getMetadata('design:paramtypes', prototype, name) ?? []) types.add(type);
  }
  return types;
}

function undeclaredMembers(type: unknown): string[] {
  if (typeof type !== 'function' || type === Object) return [];
  const known = knownMembers(type);
  const validated = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const members = new Set(validated.map(({ propertyName }) => propertyName));
  return [...members].filter((member) => !known.has(member)).map((member) => `${type.name}.${member}`);
}
