import { ApiProperty } from '@nestjs/swagger';
import { OrganizationResource } from '../../accounts/organizations/dto/organizations.response.js';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import type { ApprovalState } from '../../sign-in/approvals/approval.rules.js';
import type { OpenLogin } from '../logins/cli-logins.service.js';

export class LoginResponse {
  @ApiProperty({ type: 'string', description: '`op:` and the SHA-256 of the token, hexadecimal.' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['login'] })
  kind: 'login';

  @ApiProperty({ type: 'string', enum: ['pending', 'completed', 'denied', 'expired'] })
  state: ApprovalState;

  @ApiProperty({ type: 'string', nullable: true, description: 'The page that approves it; only while pending.' })
  url: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    example: 'ABCD-EFGH',
    description: 'To type at `/cli` instead of opening `url`; only while pending.',
  })
  userCode: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;

  static from({ id, state, url, userCode, expiresAt }: OpenLogin): LoginResponse {
    const login = { id, kind: 'login' as const, state, url, userCode, expiresAt: expiresAt.toISOString() };
    return Object.assign(new LoginResponse(), login);
  }
}

class HandedOverCredential {
  @ApiProperty({ type: 'string', description: 'A management key; returned only once.', example: 'gw_mgmt_…' })
  token: string;
}

export class RedeemedLoginResponse {
  @ApiProperty({ type: HandedOverCredential })
  credential: HandedOverCredential;

  @ApiProperty({ type: OrganizationResource })
  account: OrganizationResource;

  static from(token: string, account: Organization): RedeemedLoginResponse {
    const credential = Object.assign(new HandedOverCredential(), { token });
    return Object.assign(new RedeemedLoginResponse(), { credential, account: OrganizationResource.from(account) });
  }
}
