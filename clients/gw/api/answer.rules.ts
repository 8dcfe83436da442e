/** The parts of a JSON schema that define the members of a response. */
export interface AnswerSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  readonly items?: AnswerSchema;
  readonly anyOf?: readonly AnswerSchema[];
  readonly allOf?: readonly AnswerSchema[];
  readonly additionalProperties?: unknown;
}

/** Schemas by their names. */
export type Schemas = Readonly<Record<string, AnswerSchema>>;

/**
 * A valid response without the members that its schema does not declare, such as those of a newer server. The members
 * of all alternatives are kept.
 */
export function declaredPart(value: unknown, schema: AnswerSchema, schemas: Schemas): unknown {
  const parts = partsOf(schema, schemas);
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => part.items ?? []);
    return items.length === 0 ? value : value.map((item) => declaredPart(item, { anyOf: items }, schemas));
  }
  if (typeof value !== 'object' || value === null || parts.some(isOpen)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const known = parts.flatMap(({ properties = {} }) =>
        Object.hasOwn(properties, name) ? (properties[name] ?? []) : [],
      );
      return known.length === 0 ? [] : [[name, declaredPart(member, { anyOf: known }, schemas)]];
    }),
  );
}

/** A schema without its references and alternatives. */
function partsOf(schema: AnswerSchema, schemas: Schemas): readonly AnswerSchema[] {
  const { $ref, anyOf = [], allOf = [] } = schema;
  const referred = $ref === undefined ? undefined : schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
  const inner = [...anyOf, ...allOf, ...(referred === undefined ? [] : [referred])];
  return inner.length === 0 ? [schema] : [schema, ...inner.flatMap((part) => partsOf(part, schemas))];
}

const isOpen = ({ additionalProperties }: AnswerSchema) =>
  additionalProperties === true || (typeof additionalProperties === 'object' && additionalProperties !== null);
