import { Failure } from '../program/failure.js';

/**
 * The address of a path of a deployment, and of nothing else: a path that a URL parser would change is refused, so that
 * the path is sent exactly as typed.
 *
 * @throws Failure it is another address, has dot segments, or characters that are to be percent-encoded.
 */
export function addressOf(origin: string, path: string): URL {
  const url = path.startsWith('/') && URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  if (url === undefined || url.origin !== origin) {
    throw refused('must be a path of this gateway, not a URL');
  }
  const [typed = ''] = path.split('?', 1);
  if (segmentsOf(typed).some((segment) => /^\.\.?$/.test(segment))) throw refused('must not contain . or .. segments');
  if (url.pathname + url.search !== path) {
    throw refused('contains characters that must be percent-encoded, or a fragment');
  }
  return url;
}

/** Segments as a server may decode them. */
const segmentsOf = (path: string) =>
  path
    .replaceAll(/%2f|%5c|\\/gi, '/')
    .replaceAll(/%2e/gi, '.')
    .split('/');

const refused = (problem: string) =>
  Failure.input('invalid_path', `The path ${problem}.`, { nextAction: 'Give it as /v1/admin/apps' });

/** A page of a list, and where the next one is. */
interface PageOf {
  readonly name: string;
  readonly rows: readonly unknown[];
  /** Query parameter and value of the next page; undefined on the last one. */
  readonly next: readonly [name: string, value: string] | undefined;
}

/** A body as a page of a list; undefined if it is not one. @param skipped rows before it. */
export function pageIn(body: unknown, skipped: number): PageOf | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const lists = Object.entries(body).filter(([, value]) => Array.isArray(value));
  const [[name, rows] = ['', []], ...others] = lists as [string, unknown[]][];
  if (name === '' || others.length > 0) return undefined;
  const { next_before_id: before, total } = body as Record<string, unknown>;
  const reached = skipped + rows.length;
  // A page without rows is always the last one, so that reading all pages ends.
  if (rows.length === 0) return { name, rows, next: undefined };
  if (typeof before === 'number') return { name, rows, next: ['before_id', String(before)] };
  const hasMore = typeof total === 'number' && reached < total;
  return { name, rows, next: hasMore ? ['offset', String(reached)] : undefined };
}
