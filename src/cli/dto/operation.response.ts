import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { DeploymentFacts } from '../../accounts/access/deployment.js';
import { OrganizationResource } from '../../accounts/organizations/dto/organizations.response.js';
import { OPERATION_KINDS, type OperationKind } from '../operations/operation.rules.js';
import type { OperationStanding } from '../operations/operations.service.js';
import { OperationFailureResponse } from './operation-failure.response.js';

export class DeploymentResource implements DeploymentFacts {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['self_hosted'] })
  mode: 'self_hosted';

  @ApiProperty({ type: 'string', format: 'uri' })
  apiUrl: string;

  @ApiProperty({ type: 'string', format: 'uri' })
  consoleOrigin: string;
}

export class OperationResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...OPERATION_KINDS] })
  kind: OperationKind;

  @ApiProperty({ type: 'string', enum: ['pending', 'completed', 'expired'] })
  state: 'pending' | 'completed' | 'expired';

  @ApiPropertyOptional({ type: 'boolean', enum: [true], description: 'True when a person declined; with `expired`.' })
  denied?: true;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When the browser step expires.' })
  expiresAt: string;

  @ApiProperty({ type: 'string', required: false, description: 'The page of the browser step, while it is pending.' })
  url?: string;

  @ApiProperty({ type: DeploymentResource })
  deployment: DeploymentResource;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      'The result: `credential.token` (the key, returned once), `accountId`, `app`, `api_key`, `provider`, `gateway`.',
  })
  result?: object;

  @ApiPropertyOptional({
    type: OperationFailureResponse,
    description: 'Why the last submission was refused. While the operation is pending, the person can try again.',
  })
  failure?: OperationFailureResponse;

  @ApiProperty({ type: OrganizationResource, required: false })
  account?: OrganizationResource;

  static from({ account, expiresAt, ...standing }: OperationStanding): OperationResponse {
    return Object.assign(new OperationResponse(), {
      ...standing,
      expiresAt: expiresAt.toISOString(),
      ...(account === undefined ? {} : { account: OrganizationResource.from(account) }),
    });
  }
}
