import { isUserId } from '../app-directory/user-id.rules.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import type { UserOrder, UserPlace } from './app-user.entity.js';

/** More digits than any amount or time has, and few enough for Postgres. */
const VALUE = /^\d{1,30}$/;
/** Microseconds up to the year 2286. */
const RECENT_VALUE = /^\d{1,16}$/;

/** The place of the last user of a page, as clients pass it back. */
export function cursorOf(order: UserOrder, { value, id }: UserPlace): string {
  return Buffer.from(JSON.stringify([order, value, id])).toString('base64url');
}

/**
 * The place that a cursor names.
 *
 * @throws invalid_request it is not a cursor of a list in this order.
 */
export function placeOf(order: UserOrder, cursor: string): UserPlace {
  const [ofOrder, value, id] = partsOf(cursor);
  const form = order === 'recent' ? RECENT_VALUE : VALUE;
  if (ofOrder !== order || typeof value !== 'string' || !form.test(value) || !isUserId(id)) {
    throw invalidRequest('cursor', 'must be the next_cursor of a page with the same sort');
  }
  return { value, id };
}

function partsOf(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
