import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from '../../console/src/api/schema.d.ts';
import { ignoresProxy } from '../program/environment.js';
import { Failure } from '../program/failure.js';
import { type AnswerSchema, declaredPart, type Schemas } from './answer.rules.js';
import answers from './answers.json' with { type: 'json' };
import { requireProtocol } from './protocol.rules.js';
import { refusal } from './refusal.rules.js';

const TIMEOUT_MS = 30_000;
const { operations, components } = answers as unknown as AnswerSchemas;
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(answers, 'api');

/** The generated file: its inferred type is far narrower than needed. */
interface AnswerSchemas {
  readonly operations: Readonly<Record<string, AnswerSchema | undefined>>;
  readonly components: { readonly schemas: Schemas };
}

const validators = new Map<string, ValidateFunction>();

/** The API of a deployment, typed by its OpenAPI document. */
export type Api = Client<paths>;

/** @param key without one only public operations succeed. @param timeoutMs of each request. */
export function apiOf(url: string, key?: string, timeoutMs = TIMEOUT_MS): Api {
  if (key !== undefined) requireToken(key);
  const headers = { 'x-client': 'cli', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const client = createClient<paths>({ baseUrl: url, headers, fetch: (request) => send(request, timeoutMs) });
  client.use(checkedAnswers);
  return client;
}

/** @throws Failure it is not a key of any kind: it would break the header that carries it. */
export function requireToken(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return;
  throw Failure.input('key_malformed', 'The key contains blanks, line breaks or other invalid characters.', {
    nextAction: 'Give the key alone, on one line.',
  });
}

/** A redirect would send the key elsewhere, so it is not followed. */
export async function send(request: Request, timeoutMs = TIMEOUT_MS): Promise<Response> {
  try {
    return await fetch(request, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw unreachable(new URL(request.url).origin, error);
  }
}

/** There was no response. */
export function unreachable(origin: string, error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
  const nextAction = ignoresProxy()
    ? 'HTTPS_PROXY is not used: that needs Node 24.14 or newer. Without a proxy, check the address and the network.'
    : 'Check the address and the network, then run the command again.';
  return Failure.remote('unreachable', `${origin} does not answer: ${cause}.`, { nextAction });
}

const checkedAnswers: Middleware = {
  async onResponse({ request, response, schemaPath }) {
    if (!response.ok) return undefined;
    const operation = `${request.method} ${schemaPath}`;
    const schema = operations[operation];
    if (schema === undefined) return undefined;
    const body = await jsonOf(response);
    if (schemaPath === '/v1/cli/capabilities') requireProtocol(body);
    if (!validatorOf(operation)(body)) throw unexpected(request, 'with a body that does not match its API');
    return Response.json(declaredPart(body, schema, components.schemas), response);
  },
};

function validatorOf(operation: string): ValidateFunction {
  const pointer = operation.replaceAll('~', '~0').replaceAll('/', '~1');
  const validator =
    validators.get(operation) ?? ajv.compile({ $ref: `api#/operations/${encodeURIComponent(pointer)}` });
  validators.set(operation, validator);
  return validator;
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function unexpected({ url }: Pick<Request, 'url'>, problem: string): Failure {
  const nextAction = 'Check that the address is that of a gateway, and that no proxy answers instead.';
  return Failure.remote('unexpected_answer', `${new URL(url).origin} answers ${problem}.`, { nextAction });
}

/** The body of a successful response. @throws Failure for every other. */
export async function read<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok && data !== undefined) return data;
  throw refusal(response, error);
}

/** The members of a query or body that were given. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
