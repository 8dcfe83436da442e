import { ApiProperty } from '@nestjs/swagger';
import type { IssuedReset } from '../recovery/password-resets.service.js';

export class RecoveryCodeCountResponse {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10, description: 'Codes that are not used.' })
  unused: number;

  static of(unused: number): RecoveryCodeCountResponse {
    return Object.assign(new RecoveryCodeCountResponse(), { unused });
  }
}

export class RecoveryCodesResponse {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', example: '3abc-defg-hijk-0123' },
    description: 'Shown only once and stored as hashes.',
  })
  codes: string[];

  static of(codes: readonly string[]): RecoveryCodesResponse {
    return Object.assign(new RecoveryCodesResponse(), { codes: [...codes] });
  }
}

export class IssuedPasswordResetResponse {
  @ApiProperty({ type: 'string', format: 'uri', description: 'For the person alone: shown only once.' })
  url: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;

  static from({ token, expiresAt }: IssuedReset, consoleUrl: string): IssuedPasswordResetResponse {
    const url = `${consoleUrl}/reset#${token.reveal()}`;
    return Object.assign(new IssuedPasswordResetResponse(), { url, expiresAt: expiresAt.toISOString() });
  }
}

export class PasswordResetResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  reset: true;

  static done(): PasswordResetResponse {
    return Object.assign(new PasswordResetResponse(), { reset: true });
  }
}
