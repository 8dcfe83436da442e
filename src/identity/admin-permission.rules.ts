import { GatewayError } from '../common/errors/gateway-error.js';
import type { Grant, Role } from './admin-principal.js';

/** What a management route asks for: `read` = any member and any grant; `write` = owner or admin with `manage`. */
export type AdminNeed = 'read' | 'write';

/**
 * Refuses a caller who may not do this; the role is judged before the grant (contract-admin 0.3, 6.3).
 *
 * @throws forbidden the role only reads.
 * @throws grant_insufficient the credential only reads.
 */
export function requirePermission(caller: { readonly role: Role; readonly grant: Grant }, need: AdminNeed): void {
  if (need === 'read') return;
  if (caller.role === 'member') throw new GatewayError('forbidden', { reason: 'role_read_only' });
  if (caller.grant === 'read') throw new GatewayError('grant_insufficient', { reason: 'grant_read_only' });
}
