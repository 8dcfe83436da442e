import { ApiProperty } from '@nestjs/swagger';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import type { OperationFailure } from '../operations/operation.rules.js';

export class OperationFailureResponse implements OperationFailure {
  @ApiProperty({ type: 'string', description: 'As the route of the change answers it, such as `slug_taken`.' })
  code: ErrorCode;

  @ApiProperty({ type: 'string', description: 'What is wrong, and what to do.' })
  message: string;
}
