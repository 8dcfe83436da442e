import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { registerDecorator, ValidateIf } from 'class-validator';
import type { RefusalCode } from '../errors/error-catalogue.js';
import { isTimestamp } from '../timestamp.rules.js';
import { isStorableText } from './config-values.js';
import { isDisplayName, MISLEADING_NAME } from './display-name.rules.js';

interface Presence {
  readonly optional?: boolean;
  readonly nullable?: boolean;
  readonly description?: string;
}

const known = new Map<object, Set<string>>();
const trimmed = new Map<object, Set<string>>();
const numeric = new Map<object, Set<string>>();

const open = new Set<object>();

/** Marks a request class that ignores unknown members; all others refuse them. */
export function IgnoresOthers(): ClassDecorator {
  return (type) => {
    open.add(type);
  };
}

/** True when a request class ignores unknown members. */
export function ignoresOthers(type: object): boolean {
  return open.has(type);
}

/** Names of the classes that ignore unknown members. */
export function namesOfIgnoring(): ReadonlySet<string> {
  return new Set([...open].map((type) => String(Reflect.get(type, 'name'))));
}

/** The members of a class, those it inherits included. */
function membersIn(table: ReadonlyMap<object, Set<string>>, prototype: object): ReadonlySet<string> {
  const own = table.get(prototype) ?? new Set();
  const parent: object | null = Object.getPrototypeOf(prototype);
  return parent === null || parent === Object.prototype ? own : new Set([...membersIn(table, parent), ...own]);
}

/** Names of all declared members of a request class. */
export function knownMembers(type: { prototype: object }): ReadonlySet<string> {
  return membersIn(known, type.prototype);
}

/** Names of the text members that are trimmed before validation. */
export function trimmedMembers(type: { prototype: object }): ReadonlySet<string> {
  return membersIn(trimmed, type.prototype);
}

/** Names of a query class's numeric members, whose text is converted to a number. */
export function numericMembers(type: { prototype: object }): ReadonlySet<string> {
  return membersIn(numeric, type.prototype);
}

/** Trimmed text of `min` to `max` characters. Validator and OpenAPI property in one. */
export function Text(options: Presence & { min?: number; max: number; pattern?: RegExp; patternText?: string }) {
  const { min = 1, max, pattern, patternText = 'of the documented form' } = options;
  const isRight = (value: unknown) =>
    typeof value === 'string' &&
    value.length >= min &&
    value.length <= max &&
    isStorableText(value) &&
    (pattern?.test(value) ?? true);
  const text = pattern ? `must be ${patternText}` : `must be text of ${min} to ${max} characters`;
  return applyDecorators(
    remember(trimmed),
    check(isRight, text, options),
    api({ type: 'string', minLength: min, maxLength: max, ...(pattern ? { pattern: pattern.source } : {}) }, options),
  );
}

/** A trimmed display name: 1 to `max` characters, none of them misleading. */
export function DisplayName(options: Presence & { max: number }) {
  const { max } = options;
  const isShort = (value: unknown) =>
    typeof value === 'string' && value.length >= 1 && value.length <= max && isStorableText(value);
  return applyDecorators(
    remember(trimmed),
    check(
      (value) => isShort(value) && isDisplayName(String(value)),
      (value) => (isShort(value) ? MISLEADING_NAME : `must be text of 1 to ${max} characters`),
      options,
    ),
    api({ type: 'string', minLength: 1, maxLength: max }, options),
  );
}

/** Text that is not trimmed, such as a credential. */
export function Verbatim(options: Presence & { min?: number; max: number }) {
  const { min = 1, max } = options;
  return applyDecorators(
    check(
      (value) => typeof value === 'string' && value.length >= min && value.length <= max && isStorableText(value),
      `must be text of ${min} to ${max} characters`,
      options,
    ),
    api({ type: 'string', minLength: min, maxLength: max }, options),
  );
}

/**
 * A list of 1 to `max` texts of base64, each of at most `maxBytes` decoded bytes. The base64 itself is checked later.
 */
export function Base64List(options: Presence & { max: number; maxBytes: number }) {
  const { max, maxBytes } = options;
  const isEntry = (entry: unknown) =>
    typeof entry === 'string' && entry !== '' && Buffer.byteLength(entry, 'base64') <= maxBytes;
  return applyDecorators(
    check(
      (value) => Array.isArray(value) && value.length >= 1 && value.length <= max && value.every(isEntry),
      `must be a list of 1 to ${max} texts, each base64 of at most ${maxBytes} bytes`,
      options,
    ),
    api({ type: 'array', minItems: 1, maxItems: max, items: { type: 'string', minLength: 1 } }, options),
  );
}

/** A time with a time zone, as RFC 3339 writes it. */
export function Timestamp(options: Presence = {}) {
  return applyDecorators(
    check(
      (value) => typeof value === 'string' && isTimestamp(value),
      'must be a time with a time zone, such as 2027-01-31T12:00:00Z',
      options,
    ),
    api({ type: 'string', format: 'date-time' }, options),
  );
}

/** A bounded integer. `missingCode` is the error code for its absence. */
export function Int(options: Presence & { min: number; max?: number; missingCode?: RefusalCode }) {
  const { min, max = Number.MAX_SAFE_INTEGER } = options;
  const range = options.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return applyDecorators(
    remember(numeric),
    check(
      (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
      `must be a whole number ${range}`,
      options,
      options.missingCode,
    ),
    api({ type: 'integer', minimum: min, ...(options.max === undefined ? {} : { maximum: max }) }, options),
  );
}

export function Flag(options: Presence = {}) {
  return applyDecorators(
    check((value) => typeof value === 'boolean', 'must be true or false', options),
    api({ type: 'boolean' }, options),
  );
}

/** One of a list of words. It keeps a reference to the list, which may grow until the service starts. */
export function OneOf(words: readonly string[], options: Presence = {}) {
  return applyDecorators(
    check(
      (value) => typeof value === 'string' && words.includes(value),
      () => `must be one of ${words.map((word) => `"${word}"`).join(', ')}`,
      options,
    ),
    api({ type: 'string', enum: words }, options),
  );
}

/** A JSON object with its own parser; `schema` is its OpenAPI schema. */
export function JsonObject(options: Presence & { schema?: ApiPropertyOptions } = {}) {
  return applyDecorators(
    check(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be an object',
      options,
    ),
    api(options.schema ?? { type: 'object', additionalProperties: true }, options),
  );
}

/** Any JSON value, with its own parser. `schema` is its OpenAPI schema. */
export function JsonValue(options: Presence & { schema: ApiPropertyOptions }) {
  return applyDecorators(
    check((value) => value !== undefined, 'is required', options),
    api(options.schema, options),
  );
}

/** A known member that is refused with its own message and omitted from the OpenAPI document. */
export function Refused(problem: string): PropertyDecorator {
  return check(() => false, problem, { optional: true });
}

function remember(register: Map<object, Set<string>>): PropertyDecorator {
  return (target, member) => {
    register.set(target, (register.get(target) ?? new Set()).add(String(member)));
  };
}

/** Absence is valid when optional, null when nullable; any other value must pass `isRight`. */
function check(
  isRight: (value: unknown) => boolean,
  problem: string | ((value: unknown) => string),
  { optional = false, nullable = false }: Presence,
  missingCode?: RefusalCode,
): PropertyDecorator {
  return (target, member) => {
    remember(known)(target, member);
    ValidateIf((body: Record<string, unknown>) => {
      const value = body[String(member)];
      return !((optional && value === undefined) || (nullable && value === null));
    })(target, member);
    registerDecorator({
      name: 'field',
      target: target.constructor,
      propertyName: String(member),
      options: {
        message: (at) =>
          at.value === undefined ? 'is required' : typeof problem === 'string' ? problem : problem(at.value),
        context: { missingCode },
      },
      validator: { validate: isRight },
    });
  };
}

function api(schema: ApiPropertyOptions, { optional, nullable, description }: Presence): PropertyDecorator {
  return ApiProperty({
    ...schema,
    required: !optional,
    ...(nullable ? { nullable: true } : {}),
    ...(description ? { description } : {}),
  } as ApiPropertyOptions);
}
