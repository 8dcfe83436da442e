import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { APP_CONFIG, type AppStatus, WithAppConfig } from '../../app-directory/config/app-config.js';
import { ENDPOINT_PROBLEMS, type EndpointReadiness } from '../app-readiness.rules.js';
import type { AppCheck, ValidApp } from '../apps.service.js';

const STORED_CONFIG: ApiPropertyOptions = {
  ...APP_CONFIG,
  required: false,
  description: 'As it would be stored; only with `include=config`.',
};

const WARNINGS: ApiPropertyOptions = {
  type: [String],
  required: false,
  description:
    'What to know of this configuration, such as a proof that is looser than another, or one without its credentials; absent without any.',
};

/** The optional members of a validation. @param isAsked whether the answer has the configuration. */
function detailsOf({ config, warnings }: ValidApp, isAsked: boolean): Partial<ValidApp> {
  return { ...(isAsked && { config }), ...(warnings.length > 0 && { warnings }) };
}

@WithAppConfig()
export class AppValidationResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  valid: true;

  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty(STORED_CONFIG)
  config?: object;

  @ApiProperty(WARNINGS)
  warnings?: string[];

  static from(appId: string, valid: ValidApp, isAsked = false): AppValidationResponse {
    return Object.assign(new AppValidationResponse(), { valid: true, app_id: appId, ...detailsOf(valid, isAsked) });
  }
}

@WithAppConfig()
export class AppDraftValidationResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  valid: true;

  @ApiProperty(STORED_CONFIG)
  config?: object;

  @ApiProperty(WARNINGS)
  warnings?: string[];

  static valid(valid: ValidApp, isAsked: boolean): AppDraftValidationResponse {
    return Object.assign(new AppDraftValidationResponse(), { valid: true, ...detailsOf(valid, isAsked) });
  }
}

export class CheckedProviderResponse {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string' })
  slug: string;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: 'active' | 'disabled';
}

export class CheckedEndpointResponse {
  @ApiProperty({ type: 'string' })
  slug: string;

  @ApiProperty({ type: 'boolean', description: 'Whether its first target can be called.' })
  ready: boolean;

  @ApiProperty({
    type: 'string',
    enum: [...ENDPOINT_PROBLEMS, null],
    nullable: true,
    description: 'The error code for its clients otherwise.',
  })
  problem: EndpointReadiness['problem'];

  static from({ slug, problem }: EndpointReadiness): CheckedEndpointResponse {
    return Object.assign(new CheckedEndpointResponse(), { slug, ready: problem === null, problem });
  }
}

export class AppCheckResponse {
  @ApiProperty({ type: 'string' })
  appId: string;

  @ApiProperty({ type: AppValidationResponse })
  validation: AppValidationResponse;

  @ApiProperty({ type: 'string', enum: ['active', 'disabled'] })
  status: AppStatus;

  @ApiProperty({
    type: [CheckedProviderResponse],
    description: 'Every provider its routing covers or an endpoint names.',
  })
  providers: CheckedProviderResponse[];

  @ApiProperty({ type: [CheckedEndpointResponse] })
  endpoints: CheckedEndpointResponse[];

  @ApiProperty({
    type: 'boolean',
    description: 'Active, with an active provider that its routing covers, or an endpoint that is ready.',
  })
  ready: boolean;

  @ApiProperty({ type: [String], description: 'What this check does not test.' })
  limitations: readonly string[];

  static from({ appId, status, providers, endpoints, ready, limitations, ...valid }: AppCheck): AppCheckResponse {
    return Object.assign(new AppCheckResponse(), {
      appId,
      validation: AppValidationResponse.from(appId, valid),
      status,
      providers: providers.map((provider) => ({ id: provider.id, slug: provider.slug, status: provider.status })),
      endpoints: endpoints.map(CheckedEndpointResponse.from),
      ready,
      limitations,
    });
  }
}
