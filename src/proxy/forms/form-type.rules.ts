import type { Ids } from '../../common/ids.js';

const MULTIPART = 'multipart/form-data';
const BOUNDARY_CHARACTERS = 40;

/**
 * Whether a content type denotes a form. @param contentType empty when the header is absent.
 * Source: docs/reference/application-api.md#bodies.
 */
export function isFormType(contentType: string): boolean {
  return contentType.slice(0, MULTIPART.length).toLowerCase() === MULTIPART;
}

/** Generates a random boundary that occurs in no part. */
export function formBoundary(ids: Ids): string {
  return ids.base62(BOUNDARY_CHARACTERS);
}

/** The content type of a form with this boundary. */
export function formType(boundary: string): string {
  return `${MULTIPART}; boundary=${boundary}`;
}
