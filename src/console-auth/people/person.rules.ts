import type { Secret } from '../../common/log/secret.js';
import type { PersonRow } from './people.repository.js';

/** Source: docs/reference/management-api.md#passwords-and-third-parties. */
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 128;
/** In characters. */
export const MAX_NAME = 100;
export const MAX_IMAGE_ADDRESS = 2_048;
export const IMAGE_ADDRESS = /^https:\/\/[^\s\p{C}]+$/u;
/** In characters; longer values are refused. */
export const MAX_INVITATION_TOKEN = 200;

/** A person to register. */
export interface NewPerson extends Pick<PersonRow, 'name' | 'image' | 'emailVerified'> {
  /** In the form of `comparableEmail`. */
  readonly email: string;
  /** The token of an invitation. */
  readonly invitation: Secret | undefined;
  /** The bootstrap key, which claims its account; never together with an invitation. */
  readonly bootstrapKey?: Secret | undefined;
}
