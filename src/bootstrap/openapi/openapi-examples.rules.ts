type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** The used part of a JSON Schema. */
export interface ExampleSchema {
  readonly $ref?: string;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, ExampleSchema>>;
  readonly required?: readonly string[];
  readonly items?: ExampleSchema;
  readonly allOf?: readonly ExampleSchema[];
  readonly oneOf?: readonly ExampleSchema[];
  readonly anyOf?: readonly ExampleSchema[];
}

/** The inputs of examples. */
export interface ExampleSource {
  /** The document's schemas by name. */
  readonly schemas: Readonly<Record<string, ExampleSchema>>;
  /** Values by member name, valid in every schema. */
  readonly words: Readonly<Record<string, Json>>;
  /** By schema name: members with other values, and optional members that a request example shows. */
  readonly members: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

/** A request example shows required members, a response example all. */
type Direction = 'request' | 'answer';

const REFERENCE = '#/components/schemas/';
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  uuid: '6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21',
  uri: 'https://id.example.com/keys',
};

/** Builds examples of whole bodies from those of their members. */
export class ExampleMaker {
  constructor(
    private readonly source: ExampleSource,
    private readonly direction: Direction,
  ) {}

  /**
   * An example of a schema.
   *
   * @param at the member name of the value, and the member values that its schema's name determines.
   * @returns `undefined` for text without an example.
   */
  of(schema: ExampleSchema, at: { member?: string; given?: Readonly<Record<string, Json>> } = {}): unknown {
    const { member, given = {} } = at;
    if (schema.example !== undefined) return schema.example;
    if (schema.$ref !== undefined) return this.ofNamed(schema.$ref.slice(REFERENCE.length));
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => this.of(part)));
    const [first] = schema.oneOf ?? schema.anyOf ?? [];
    if (first !== undefined) return this.of(first, at);
    const word =
      member === undefined || !Object.hasOwn(this.source.words, member) ? undefined : this.source.words[member];
    const types = [schema.type ?? 'object'].flat();
    if (types.includes('null')) return word ?? null;
    if (schema.enum !== undefined) return schema.enum[0];
    switch (types[0]) {
      case 'object':
        return this.ofObject(schema, given);
      case 'array':
        return word ?? [this.of(schema.items ?? {}, { ...(member && { member }) })];
      case 'boolean':
        return word ?? true;
      case 'integer':
      case 'number':
        return word ?? Math.max(schema.minimum ?? 0, 1);
      default:
        return BY_FORMAT[schema.format ?? ''] ?? word;
    }
  }

  private ofNamed(name: string): unknown {
    const schema = this.source.schemas[name];
    if (schema === undefined) throw new Error(`There is no schema ${name}.`);
    return this.of(schema, { given: this.source.members[name] ?? {} });
  }

  private ofObject({ properties = {}, required = [] }: ExampleSchema, given: Readonly<Record<string, Json>>): object {
    const shown = Object.entries(properties).filter(
      ([name]) => this.direction === 'answer' || required.includes(name) || Object.hasOwn(given, name),
    );
    const members = shown.map(([name, schema]) => {
      return [name, Object.hasOwn(given, name) ? given[name] : this.of(schema, { member: name })] as const;
    });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }
}
