import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import appSchema from '../../../docs/schemas/app.schema.json' with { type: 'json' };
import providersSchema from '../../../docs/schemas/providers.schema.json' with { type: 'json' };
import type { DesiredApp, DesiredProvider } from './configuration-files.js';
import { isTable } from './layers.rules.js';

/** A part that violates the schema of its file. */
interface SchemaProblem {
  readonly path: string;
  readonly problem: string;
}

type Table = Readonly<Record<string, unknown>>;

/** Violations of the schema by an application; the service may refuse more. */
export function appProblems({ name, handle, status, config }: DesiredApp): readonly SchemaProblem[] {
  return problemsOf('app', appSchema, { name, handle, status, config });
}

/** As `appProblems`. */
export function providerProblems({
  secret: _place,
  movedFrom: _named,
  ...provider
}: DesiredProvider): readonly SchemaProblem[] {
  const written = Object.fromEntries(Object.entries(provider).filter(([, value]) => value !== null));
  const schema = { ...providersSchema.properties.providers.items, $defs: providersSchema.$defs };
  return problemsOf('provider', schema, written);
}

const validators = new Map<string, ValidateFunction>();

function problemsOf(name: string, schema: Table, value: unknown): readonly SchemaProblem[] {
  const validate = validators.get(name) ?? compiled(schema);
  validators.set(name, validate);
  if (validate(value) === true) return [];
  const errors = validate.errors ?? [];
  // The problems of one form of several are not useful: that none of them fits is.
  const forms = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  const isOfForm = (error: ErrorObject) =>
    forms.some((form) => form !== error && `${error.instancePath}/`.startsWith(`${form.instancePath}/`));
  return errors.filter((error) => error.keyword !== 'if' && !isOfForm(error)).map(problemOf);
}

function compiled(schema: Table): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, verbose: true });
  return ajv.compile(Object(resolved(schema, Object(schema.$defs))));
}

/** Variables are validated by their values; of several forms, the one that a value names applies. */
function resolved(schema: unknown, defs: Table): unknown {
  if (Array.isArray(schema)) return schema.map((one) => resolved(one, defs));
  if (!isTable(schema)) return schema;
  const { anyOf, oneOf, ...others } = schema;
  if (Array.isArray(anyOf) && anyOf[1]?.$ref === '#/$defs/Variable') return resolved(anyOf[0], defs);
  const kept = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, resolved(value, defs)]));
  const forms = Array.isArray(oneOf) ? (byKind(oneOf, defs) ?? { oneOf: resolved(oneOf, defs) }) : {};
  return { ...kept, ...(anyOf !== undefined && { anyOf: resolved(anyOf, defs) }), ...forms };
}

/** Forms that a member distinguishes, as conditions; undefined without such a member. */
function byKind(forms: readonly unknown[], defs: Table): object | undefined {
  const kinds = forms.map((form) => kindOf(form, defs));
  const [first] = kinds;
  if (first === undefined || kinds.some((kind) => kind?.member !== first.member)) return undefined;
  const is = (value: unknown) => ({ properties: { [first.member]: { const: value } }, required: [first.member] });
  return {
    ...{ type: 'object', required: [first.member] },
    properties: { [first.member]: { enum: kinds.map((kind) => kind?.value) } },
    allOf: forms.map((form, index) => ({ if: { not: is(kinds[index]?.value) }, else: resolved(form, defs) })),
  };
}

/** The required member of a form that has only one value. */
function kindOf(form: unknown, defs: Table): { readonly member: string; readonly value: unknown } | undefined {
  const { $ref } = Object(form);
  const { properties, required = [] } = Object(typeof $ref === 'string' ? defs[$ref.replace('#/$defs/', '')] : form);
  for (const [member, described] of Object.entries(Object(properties))) {
    const { anyOf } = Object(described);
    const { enum: values } = Object(Array.isArray(anyOf) ? anyOf[0] : described);
    if (Array.isArray(values) && values.length === 1 && required.includes(member)) return { member, value: values[0] };
  }
  return undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  ...{ string: 'text', integer: 'a whole number', number: 'a number', boolean: 'true or false' },
  ...{ object: 'members', array: 'a list', null: 'null' },
};

function problemOf({ instancePath, keyword, params, message = '', schema, parentSchema }: ErrorObject): SchemaProblem {
  const path = instancePath.slice(1).split('/').map(unescaped).join('.');
  const inner = (name: string) => (path === '' ? name : `${path}.${name}`);
  const names = (types: unknown) => [types].flat().map((type) => TYPES[String(type)] ?? String(type));
  if (keyword === 'additionalProperties') {
    const known = Object.keys(Object(parentSchema).properties ?? {}).join(', ');
    return { path: inner(params.additionalProperty), problem: `is not a known member; use ${known}` };
  }
  if (keyword === 'required') return { path: inner(params.missingProperty), problem: 'is missing' };
  if (keyword === 'enum') return { path, problem: `must be one of ${params.allowedValues.join(', ')}` };
  if (keyword === 'type') return { path, problem: `must be ${names(params.type).join(' or ')}` };
  if (keyword === 'oneOf' || keyword === 'anyOf') {
    const forms = (Array.isArray(schema) ? schema : []).flatMap(({ type = 'object' }) => names(type));
    return { path, problem: `must have one of these forms: ${[...new Set(forms)].join(', or ')}` };
  }
  return { path, problem: message };
}

const unescaped = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~');
