import createClient from 'openapi-fetch';
import { ApiError } from './api-error';
import type { components, paths } from './schema';

/** The shapes of the management API, by their names in the OpenAPI document. */
export type Schemas = components['schemas'];

/** Sent with every request to `/v1`: other sites cannot make a browser send it. */
export const CONSOLE_HEADER = { 'x-console-request': '1' } as const;

/** The management API, as its OpenAPI document describes it. The session is in a cookie of this origin. */
export const api = createClient<paths>({
  baseUrl: location.origin,
  headers: CONSOLE_HEADER,
});

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of a successful response.
 *
 * @throws ApiError for every other response, and without one.
 */
export async function read<T>(answer: Promise<Answer<T>>): Promise<T> {
  let received: Answer<T>;
  try {
    received = await answer;
  } catch {
    throw ApiError.offline();
  }
  const { data, error, response } = received;
  if (response.ok) return data as T;
  throw ApiError.of(response, error);
}
