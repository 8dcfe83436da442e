import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { PublicAccess } from '../common/http/access.js';
import { Operation } from '../common/http/openapi.decorators.js';
import { Environment } from '../platform/config/environment.js';
import { CapabilitiesResponse } from './dto/capabilities.response.js';
import { RegistrationPolicy } from './people/registration-policy.service.js';
import { Google } from './third-party/google.js';

@Controller('v1/console')
export class ConsoleCapabilitiesController {
  constructor(
    private readonly policy: RegistrationPolicy,
    private readonly google: Google,
    private readonly environment: Environment,
  ) {}

  @Get('capabilities')
  @PublicAccess()
  @Operation({
    id: 'getConsoleCapabilities',
    tag: 'Operations',
    summary: 'Read what the console offers here',
  })
  @ApiOkResponse({ type: CapabilitiesResponse })
  async capabilities(): Promise<CapabilitiesResponse> {
    const { PLANS_FILE, TERMS_OF_SERVICE_URL, PRIVACY_POLICY_URL } = this.environment;
    return CapabilitiesResponse.from({
      billing: PLANS_FILE !== undefined,
      registrationOpen: await this.policy.isOpen(),
      googleAuth: this.google.isEnabled,
      termsOfServiceUrl: TERMS_OF_SERVICE_URL,
      privacyPolicyUrl: PRIVACY_POLICY_URL,
    });
  }
}
