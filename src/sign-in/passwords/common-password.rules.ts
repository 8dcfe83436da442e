import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { COMMON_PASSWORDS } from './common-passwords.js';

let known: ReadonlySet<string> | undefined;

/**
 * Refuses a new password that many people use, case-insensitively.
 *
 * @param member of the request that holds it.
 * @throws invalid_request at that member.
 * Source: docs/reference/management-api.md#passwords-and-third-parties; NIST SP 800-63B, 5.1.1.2.
 */
export function requireUncommonPassword(member: 'password' | 'newPassword', password: Secret): void {
  known ??= new Set(COMMON_PASSWORDS.trim().split(/\s+/));
  if (!known.has(password.reveal().toLowerCase())) return;
  throw invalidRequest(
    member,
    'is among the most common passwords, which are tried first; choose another one, such as several words in a row',
    'password_common',
  );
}
