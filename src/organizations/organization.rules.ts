import { GatewayError } from '../common/errors/gateway-error.js';

const PERSON_ID = /^user_([0-9a-z]{20})$/;

/** In characters. */
export const MAX_ORGANIZATION_NAME = 100;
/** In characters; longer values are refused. */
export const MAX_BOOTSTRAP_KEY = 300;
/** Maximum number of organizations that one person owns. */
const MAX_OWNED_ORGANIZATIONS = 20;

/**
 * The id of the organization that a person gets at registration. It is derived from the person's id, so that there is
 * exactly one.
 *
 * @throws Error when the id is not a person's, a defect.
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function ownOrganizationId(personId: string): string {
  const random = PERSON_ID.exec(personId)?.[1];
  if (random === undefined) throw new Error('Only people get an organization of their own.');
  return `org_${random}`;
}

/**
 * Enforces the limit of owned organizations.
 *
 * @param owned the current number.
 * @throws conflict
 * Source: OWASP API4:2023.
 */
export function requireRoomForOrganization(owned: number): void {
  if (owned < MAX_OWNED_ORGANIZATIONS) return;
  throw new GatewayError('conflict', {
    message: `You own ${MAX_OWNED_ORGANIZATIONS} organizations, and may make no more.`,
    reason: 'too_many_organizations',
  });
}
