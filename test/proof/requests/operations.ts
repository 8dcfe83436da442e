/** A parameter as the document describes it. */
interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: { readonly enum?: readonly string[]; readonly type?: string; readonly minimum?: number };
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown; readonly schema?: unknown }>>;
  };
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** An operation of the service, as its document describes it. */
export interface Operation {
  /** Method and path, such as `GET /v1/admin/apps/{app}`. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly Parameter[];
  /** The document's example of a JSON body; absent where none is read. */
  readonly example?: unknown;
  /** Names of the members that its body may have, at any depth. */
  readonly members: readonly string[];
  /** Names of the security schemes that open it; none: it is public. */
  readonly schemes: readonly string[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** Every operation of a document. */
export function operationsOf(document: unknown): readonly Operation[] {
  const { paths, components } = document as Document;
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [operationOf(method.toUpperCase(), path, operation, components.schemas)];
    }),
  );
}

function operationOf(
  method: string,
  path: string,
  operation: DocumentedOperation,
  schemas: Document['components']['schemas'],
): Operation {
  const { example, schema } = operation.requestBody?.content['application/json'] ?? {};
  return {
    ...{ route: `${method} ${path}`, method, path, schemes: schemesOf(operation) },
    members: [...memberNames(schema, schemas)],
    query: (operation.parameters ?? []).filter((parameter) => parameter.in === 'query'),
    ...(example === undefined ? {} : { example }),
  };
}

/** Names of the properties of a schema, and of those that it refers to. */
function memberNames(
  schema: unknown,
  schemas: Document['components']['schemas'],
  names = new Set<string>(),
): Set<string> {
  if (typeof schema !== 'object' || schema === null) return names;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref') memberNames(schemas[String(value).split('/').at(-1) ?? ''], schemas, names);
    else if (keyword === 'properties') for (const name of Object.keys(value)) names.add(name);
    if (keyword !== 'example') memberNames(value, schemas, names);
  }
  return names;
}

function schemesOf({ security = [] }: DocumentedOperation): readonly string[] {
  const ways = security.map((way) => Object.keys(way));
  return ways.some((names) => names.length === 0) ? [] : ways.flat();
}

/** Values that parameters take, by name; others take any text. */
const BY_NAME: Readonly<Record<string, string>> = {
  ...{ month: '2026-01', from: '2026-01-01', to: '2026-01-31', action: 'app.created', outcome: 'ok', days: '7' },
};

/** A value that a parameter of the query takes. */
export function usualValue({ name, schema }: Parameter): string {
  return (
    BY_NAME[name] ?? schema.enum?.[0] ?? (schema.type === 'integer' ? String(Math.max(schema.minimum ?? 0, 1)) : 'a')
  );
}
