const MAX_APP_ID_LENGTH = 63;
const FALLBACK_STEM = 'app';

/**
 * A name reduced to `a-z`, `0-9` and single inner dashes, at most 63 characters; `app` when nothing is left.
 * Source: docs/reference/management-api.md#application-objects-and-ids.
 */
export function slugifyAppName(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return cutStem(plain.replace(/[^a-z0-9]+/g, '-').replace(/^-/, ''), MAX_APP_ID_LENGTH) || FALLBACK_STEM;
}

/**
 * The id of a new application: its slugified name, a dash and the suffix, at most 63 characters.
 *
 * @param suffix six random characters of Crockford's base32 in lower case.
 */
export function appIdFrom(name: string, suffix: string): string {
  return `${cutStem(slugifyAppName(name), MAX_APP_ID_LENGTH - suffix.length - 1)}-${suffix}`;
}

function cutStem(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-$/, '');
}
