import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Header {
  readonly required?: boolean;
}

interface Response {
  readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, unknown>>;
  readonly components?: { readonly headers?: Readonly<Record<string, Header>> };
}

/** What is judged of an answer. Names of headers are in lower case. */
export interface CheckedAnswer {
  readonly status: number;
  /** Parsed JSON; `undefined` for anything else. */
  readonly body: unknown;
  readonly headers: readonly string[];
  /** Headers of the request; not judged when absent. */
  readonly sent?: readonly string[];
}

/** What an operation says of the answers with one status. */
interface Documented {
  readonly name: string;
  readonly operation: Operation;
  readonly path: readonly string[];
  readonly response: Response;
}

/** What the document says once, for all answers, and what belongs to the connection. */
const OF_EVERY_ANSWER: ReadonlySet<string> = new Set([
  ...['cache-control', 'referrer-policy', 'x-content-type-options', 'x-frame-options'],
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
]);

/**
 * Holds answers against the service's own description: an undocumented status, member or header fails the test.
 *
 * Node loads this file once for each worker, as it loads packages: what a document needs to be compiled, suites share.
 * So it is written in syntax that Node runs as it is.
 */
export class OpenApiCheck {
  private static written: OpenApiCheck | undefined;
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly routes: readonly { pattern: RegExp; path: string }[];

  private constructor(document: Document) {
    this.document = document;
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'api');
    this.routes = Object.keys(document.paths)
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .map((path) => ({
        path,
        pattern: new RegExp(`^${path.replace(/\{path\}/g, '.+').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      }));
  }

  /** By `docs/openapi.json`, which is what the service serves: a contract test compares the two. */
  static ofService(): OpenApiCheck {
    const file = new URL('../../../docs/openapi.json', import.meta.url);
    OpenApiCheck.written ??= new OpenApiCheck(JSON.parse(readFileSync(file, 'utf8')));
    return OpenApiCheck.written;
  }

  /** By a document that is another than the service's own. */
  static of(document: unknown): OpenApiCheck {
    if (typeof document !== 'object' || document === null) throw new Error('no OpenAPI document');
    return new OpenApiCheck(document as Document);
  }

  /** @throws Error saying what of the answer the document does not describe. Unrouted paths are not judged. */
  answer(method: string, url: string, { status, body, headers, sent }: CheckedAnswer): void {
    const documented = this.find(method, url, status, body);
    if (documented === undefined) return;
    this.requireHeaders(documented, headers);
    this.refuseHeaders(documented, headers);
    if (sent !== undefined && status < 400) requireSent(documented, sent);
    if (body !== undefined) this.requireBody(documented, body);
  }

  /** The same for an answer that may be a provider's, of which its headers and its body are nobody's promise. */
  relayed(method: string, url: string, { status, headers }: Pick<CheckedAnswer, 'status' | 'headers'>): void {
    const documented = this.find(method, url, status, undefined);
    if (documented !== undefined) this.requireHeaders(documented, headers);
  }

  /** @throws Error saying what of an event that a webhook got the document does not describe. */
  event(body: { readonly type: string }): void {
    if (!Object.hasOwn(this.document.webhooks ?? {}, body.type)) throw new Error(`no event ${body.type} is described`);
    const pointer = ['webhooks', body.type, 'post', 'requestBody', 'content', 'application/json', 'schema'];
    const validate = this.schemaAt(pointer);
    if (!validate(body)) throw new Error(`${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
  }

  /** Whether the operation documents any refusal. @returns false also of an unknown operation. */
  namesRefusals(method: string, url: string): boolean {
    const { operation } = this.operationAt(method, url) ?? {};
    return Object.keys(operation?.responses ?? {}).some((status) => status >= '4');
  }

  private operationAt(method: string, url: string) {
    const path = url.split('?')[0] ?? url;
    const route = this.routes.find(({ pattern }) => pattern.test(path));
    const operation = route && this.document.paths[route.path]?.[method.toLowerCase()];
    return route && operation && { route, operation };
  }

  private find(method: string, url: string, status: number, body: unknown): Documented | undefined {
    const { route, operation } = this.operationAt(method, url) ?? {};
    if (!route || !operation) return undefined;
    const key = operation.responses[status] ? String(status) : 'default';
    const response = operation.responses[key];
    const name = `${method} ${route.path}`;
    if (!response) throw new Error(`${name} answered ${status}, which is not documented: ${JSON.stringify(body)}`);
    const place = ['paths', route.path, method.toLowerCase(), 'responses', key];
    return { name: `${name} ${status}`, operation, path: place, response };
  }

  private requireHeaders({ name, response }: Documented, headers: readonly string[]): void {
    for (const [header, described] of Object.entries(response.headers ?? {})) {
      if (this.resolved(described).required !== true || headers.includes(header.toLowerCase())) continue;
      throw new Error(`${name}: the document promises the header ${header}, and the answer has none`);
    }
  }

  private refuseHeaders({ name, operation, response }: Documented, headers: readonly string[]): void {
    // The headers of a provider are relayed with its answer.
    if (response === operation.responses.default) return;
    const named = new Set(Object.keys(response.headers ?? {}).map((header) => header.toLowerCase()));
    const unnamed = headers.filter((header) => !named.has(header) && !OF_EVERY_ANSWER.has(header));
    if (unnamed.length > 0) throw new Error(`${name}: the document does not name the header ${unnamed.join(', ')}`);
  }

  private resolved(header: Header | { readonly $ref: string }): Header {
    if (!('$ref' in header)) return header;
    const found = this.document.components?.headers?.[header.$ref.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`no header at ${header.$ref}`);
    return found;
  }

  private requireBody({ name, path, response }: Documented, body: unknown): void {
    if (!response.content?.['application/json']?.schema) return;
    const pointer = [...path, 'content', 'application/json', 'schema'];
    const validate = this.schemaAt(pointer);
    if (!validate(body)) {
      throw new Error(`${name}: ${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
    }
  }

  private schemaAt(pointer: readonly string[]) {
    const validate = this.ajv.getSchema(`api#/${pointer.map(escapePointer).join('/')}`);
    if (validate === undefined) throw new Error(`no schema at ${pointer.join(' ')}`);
    return validate;
  }
}

/** A header that is said to be required, but without which a request succeeds, is not. */
function requireSent({ name, operation: { parameters = [] } }: Documented, sent: readonly string[]): void {
  const missing = parameters.find(
    (parameter) => parameter.in === 'header' && parameter.required && !sent.includes(parameter.name.toLowerCase()),
  );
  if (missing) throw new Error(`${name}: succeeded without ${missing.name}, which the document requires`);
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
