import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Holds answers against the service's own description: an undocumented status or member fails the test. */
export class OpenApiCheck {
  private static readonly known = new WeakMap<object, OpenApiCheck>();
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly routes: readonly { pattern: RegExp; path: string }[];

  private constructor(private readonly document: Document) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'api');
    this.routes = Object.keys(document.paths)
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .map((path) => ({
        path,
        pattern: new RegExp(`^${path.replace(/\{path\}/g, '.+').replace(/\{[^}]+\}/g, '[^/]+')}$`),
      }));
  }

  static of(document: unknown): OpenApiCheck {
    if (typeof document !== 'object' || document === null) throw new Error('no OpenAPI document');
    const check = OpenApiCheck.known.get(document) ?? new OpenApiCheck(document as Document);
    OpenApiCheck.known.set(document, check);
    return check;
  }

  /** @throws Error saying what of the answer the document does not describe. Unrouted paths are not judged. */
  answer(method: string, url: string, status: number, body: unknown): void {
    const path = url.split('?')[0] ?? url;
    const route = this.routes.find(({ pattern }) => pattern.test(path));
    const operation = route && this.document.paths[route.path]?.[method.toLowerCase()];
    if (!route || !operation) return;
    const documented = operation.responses[status] ?? operation.responses.default;
    if (!documented)
      throw new Error(`${method} ${route.path} answered ${status}, which is not documented: ${JSON.stringify(body)}`);
    if (!documented.content?.['application/json']?.schema || body === undefined) return;
    const key = operation.responses[status] ? String(status) : 'default';
    const pointer = [
      'paths',
      route.path,
      method.toLowerCase(),
      'responses',
      key,
      'content',
      'application/json',
      'schema',
    ];
    const validate = this.ajv.getSchema(`api#/${pointer.map(escapePointer).join('/')}`);
    if (validate === undefined) throw new Error(`no schema at ${pointer.join(' ')}`);
    if (!validate(body)) {
      throw new Error(
        `${method} ${route.path} ${status}: ${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
      );
    }
  }
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
