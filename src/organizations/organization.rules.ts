import { GatewayError } from '../common/errors/gateway-error.js';

const PERSON_ID = /^user_([0-9a-z]{20})$/;

/** Most characters of an organization's name. */
export const MAX_ORGANIZATION_NAME = 100;
/** Longer texts are no bootstrap key. */
export const MAX_BOOTSTRAP_KEY = 300;
/** Organizations that one person may own when they make another one. */
const MAX_OWNED_ORGANIZATIONS = 20;

/**
 * The id of the organization that a person gets when they register: derived from theirs, so that there is one.
 *
 * @throws Error for what is no id of a person, which is our defect.
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function ownOrganizationId(personId: string): string {
  const random = PERSON_ID.exec(personId)?.[1];
  if (random === undefined) throw new Error('Only people get an organization of their own.');
  return `org_${random}`;
}

/**
 * Refuses one more organization of a person.
 *
 * @param owned how many they own.
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
