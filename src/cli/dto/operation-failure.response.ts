import { ApiProperty } from '@nestjs/swagger';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import type { OperationFailure } from '../operations/operation.rules.js';

export class OperationFailureResponse implements OperationFailure {
  @ApiProperty({ type: 'string', description: 'The error code of the change’s route, such as `slug_taken`.' })
  code: ErrorCode;

  @ApiProperty({ type: 'string', description: 'The problem, and what to do.' })
  message: string;
}
