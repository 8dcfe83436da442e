import { ApiProperty } from '@nestjs/swagger';
import type { PasskeyRow } from '../passkeys/passkeys.repository.js';

export class PasskeyOptionsResponse {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'For `navigator.credentials`, in the JSON form of WebAuthn Level 3. Valid once, for five minutes.',
  })
  options: object;

  static of(options: object): PasskeyOptionsResponse {
    return Object.assign(new PasskeyOptionsResponse(), { options });
  }
}

class PasskeyResource {
  @ApiProperty({ type: 'string', example: 'passkey_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'The last sign-in with it.' })
  lastUsedAt: string | null;

  static from({ id, name, createdAt, lastUsedAt }: PasskeyRow): PasskeyResource {
    return Object.assign(new PasskeyResource(), {
      ...{ id, name, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null },
    });
  }
}

export class PasskeyResponse {
  @ApiProperty({ type: PasskeyResource })
  passkey: PasskeyResource;

  static from(passkey: PasskeyRow): PasskeyResponse {
    return Object.assign(new PasskeyResponse(), { passkey: PasskeyResource.from(passkey) });
  }
}

export class PasskeyListResponse {
  @ApiProperty({ type: [PasskeyResource], description: 'Oldest first.' })
  passkeys: PasskeyResource[];

  static from(passkeys: readonly PasskeyRow[]): PasskeyListResponse {
    return Object.assign(new PasskeyListResponse(), { passkeys: passkeys.map(PasskeyResource.from) });
  }
}

export class RemovedPasskeyResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  removed: true;

  static done(): RemovedPasskeyResponse {
    return Object.assign(new RemovedPasskeyResponse(), { removed: true });
  }
}
