import { Controller, Delete } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Operation } from '../../common/http/openapi.decorators.js';
import { Admin, AdminAccess } from '../admin-access.decorator.js';
import type { AdminPrincipal } from '../admin-principal.js';
import { AccountKeys } from './account-keys.service.js';
import { RevokedCredentialResponse } from './dto/management-key.response.js';

@Controller('v1/cli/credential')
export class OwnCredentialController {
  constructor(private readonly keys: AccountKeys) {}

  @Delete()
  @AdminAccess('read', { credential: 'key' })
  @Operation({
    id: 'revokeCliCredential',
    tag: 'CLI',
    summary: 'End the key this is sent with',
    description: 'Whatever its owner’s role and its grant. It opens nothing from the next request on.',
  })
  @ApiOkResponse({ type: RevokedCredentialResponse })
  async revoke(@Admin() admin: AdminPrincipal): Promise<RevokedCredentialResponse> {
    await this.keys.revoke(admin, admin.credentialId);
    return RevokedCredentialResponse.done();
  }
}
