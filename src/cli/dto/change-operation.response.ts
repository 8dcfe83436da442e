import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ChangeStanding, RevealedOperation } from '../changes/change-operations.service.js';
import { CHANGE_KINDS, type ChangeKind } from '../operations/resource-operations.js';
import { OperationFailureResponse } from './operation-failure.response.js';

export class ChangeOperationResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...CHANGE_KINDS] })
  kind: ChangeKind;

  @ApiProperty({ type: 'string', enum: ['pending', 'completed', 'expired'] })
  state: 'pending' | 'completed' | 'expired';

  @ApiPropertyOptional({ type: 'boolean', enum: [true], description: 'True when a person declined; with `expired`.' })
  denied?: true;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it expires.' })
  expiresAt: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      'The result: `app`, `appId`, `provider`, `gateway`; of an issued key `api_key`, without the key itself.',
  })
  result?: object;

  @ApiPropertyOptional({
    type: OperationFailureResponse,
    description: 'Why the last submission was refused. While the operation is pending, the person can try again.',
  })
  failure?: OperationFailureResponse;

  @ApiPropertyOptional({
    type: 'string',
    format: 'uri',
    description: 'The page that shows the issued key once to an owner or admin, while it can be revealed.',
  })
  reveal_url?: string;

  static from({ revealUrl, createdAt, expiresAt, ...standing }: ChangeStanding): ChangeOperationResponse {
    return Object.assign(new ChangeOperationResponse(), {
      ...standing,
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      ...(revealUrl !== undefined && { reveal_url: revealUrl }),
    });
  }
}

export class RevealedOperationResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...CHANGE_KINDS] })
  kind: ChangeKind;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'As in the operation; `api_key.key` is the key itself, shown only once.',
  })
  result: object;

  static from({ id, kind, result }: RevealedOperation): RevealedOperationResponse {
    return Object.assign(new RevealedOperationResponse(), { id, kind, result });
  }
}
