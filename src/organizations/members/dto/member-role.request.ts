import { OneOf } from '../../../common/fields/fields.js';
import { ROLES, type Role } from '../../../identity/admin-principal.js';

export class MemberRoleRequest {
  @OneOf(ROLES, { description: '`member` only reads.' })
  readonly role: Role;
}
