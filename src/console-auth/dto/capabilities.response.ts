import { ApiProperty } from '@nestjs/swagger';

export class CapabilitiesResponse {
  @ApiProperty({ type: 'boolean', description: 'Whether accounts have plans.' })
  billing: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether anybody may register without an invitation.' })
  registrationOpen: boolean;

  @ApiProperty({ type: 'boolean', description: 'Whether people can sign in with Google.' })
  googleAuth: boolean;

  @ApiProperty({ type: 'string', format: 'uri', required: false })
  termsOfServiceUrl?: string;

  @ApiProperty({ type: 'string', format: 'uri', required: false })
  privacyPolicyUrl?: string;

  static from(capabilities: CapabilitiesResponse): CapabilitiesResponse {
    return Object.assign(new CapabilitiesResponse(), capabilities);
  }
}
