import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { ENTITLEMENT_PRESETS, IDENTITY_PRESETS } from '../../app-directory/config/identity-presets.rules.js';

const BOOKKEEPING = 'Console bookkeeping; ignored.';
const CLAIM_TEXT = { type: 'string', minLength: 1, maxLength: 1000 } as const;
const HEADER_NAME = {
  type: 'string',
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
  minLength: 1,
  maxLength: 64,
} as const;
/** One value or several; responses always hold a list. */
const ONE_OR_MORE = { oneOf: [CLAIM_TEXT, { type: 'array', minItems: 1, maxItems: 1000, items: CLAIM_TEXT }] };

/** A dotted path, or a list of names for claims whose names contain dots. */
const CLAIM_PATH = { oneOf: [CLAIM_TEXT, { type: 'array', minItems: 1, maxItems: 20, items: CLAIM_TEXT }] };
const PATH_OF_CLAIM =
  'Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`.';

@ApiSchema({ name: 'AppRequiredClaimContains' })
class ContainsClaimSchema {
  @ApiProperty({ ...CLAIM_PATH, description: PATH_OF_CLAIM })
  path: string | string[];

  @ApiProperty({ ...ONE_OR_MORE, description: 'The claim must hold one of these.' })
  contains: string | string[];
}

@ApiSchema({ name: 'AppRequiredClaimEquals' })
class EqualsClaimSchema {
  @ApiProperty({ ...CLAIM_PATH, description: PATH_OF_CLAIM })
  path: string | string[];

  @ApiProperty({
    oneOf: [CLAIM_TEXT, { type: 'number' }, { type: 'boolean' }],
    description: 'The claim must be exactly this.',
  })
  equals: string | number | boolean;
}

@ApiSchema({ name: 'AppIssuer' })
@ApiExtraModels(ContainsClaimSchema, EqualsClaimSchema)
class IssuerSchema {
  @ApiProperty({ type: 'string', format: 'uri', maxLength: 2048, description: 'The public key set; https.' })
  jwks_url: string;

  @ApiProperty({ ...ONE_OR_MORE, description: 'Accepted `iss` values.' })
  issuer: string | string[];

  @ApiProperty({ ...ONE_OR_MORE, description: 'Accepted `aud` values.' })
  audience: string | string[];

  @ApiProperty({ ...CLAIM_PATH, description: `Claim that is the user id, usually \`sub\`. ${PATH_OF_CLAIM}` })
  user_id_claim: string | string[];

  @ApiProperty({ ...HEADER_NAME, required: false })
  token_header?: string;

  @ApiProperty({
    type: 'array',
    maxItems: 1000,
    items: { oneOf: [{ $ref: getSchemaPath(ContainsClaimSchema) }, { $ref: getSchemaPath(EqualsClaimSchema) }] },
    description: 'The subscription check; may be empty.',
  })
  required_claims: (ContainsClaimSchema | EqualsClaimSchema)[];

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Longest accepted life of a token.' })
  max_token_lifetime_seconds: number;

  @ApiProperty({
    type: 'string',
    enum: IDENTITY_PRESETS.map(({ id }) => id),
    required: false,
    description: BOOKKEEPING,
  })
  provider?: string;

  @ApiProperty({
    type: 'string',
    enum: ENTITLEMENT_PRESETS.map(({ id }) => id),
    required: false,
    description: BOOKKEEPING,
  })
  entitlement?: string;
}

@ApiSchema({ name: 'AppIssuerUser' })
class IssuerUserSchema {
  @ApiProperty({ type: 'string', enum: ['issuer'] })
  source: 'issuer';

  @ApiProperty({ type: IssuerSchema })
  issuer: IssuerSchema;
}

@ApiSchema({ name: 'AppInstallUser' })
class InstallUserSchema {
  @ApiProperty({ type: 'string', enum: ['app_install'] })
  source: 'app_install';
}

@ApiSchema({ name: 'AppHeaderUser' })
class HeaderUserSchema {
  @ApiProperty({ type: 'string', enum: ['header'] })
  source: 'header';

  @ApiProperty({ ...HEADER_NAME, required: false, description: 'Answered in lower case.', default: 'x-end-user-id' })
  header?: string;
}

@ApiSchema({ name: 'AppNoUser' })
class NoUserSchema {
  @ApiProperty({ type: 'string', enum: ['none'], description: 'The same as leaving `end_user` out.' })
  source: 'none';
}

@ApiSchema({ name: 'AppAttest' })
class AppAttestSchema {
  @ApiProperty({ type: 'string', pattern: '^[A-Z0-9]{10}$' })
  team_id: string;

  @ApiProperty({ type: 'string', pattern: '^[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+$', maxLength: 255 })
  bundle_id: string;

  @ApiProperty({
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', enum: ['production', 'development'] },
    required: false,
    default: ['production'],
  })
  environments?: string[];
}

@ApiSchema({ name: 'AppDeviceAuthentication' })
@ApiExtraModels(IssuerUserSchema, InstallUserSchema)
class DeviceAuthenticationSchema {
  @ApiProperty({ type: 'string', enum: ['device_app_attest'] })
  type: 'device_app_attest';

  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(IssuerUserSchema) }, { $ref: getSchemaPath(InstallUserSchema) }],
    description: 'Who the user is.',
  })
  end_user: IssuerUserSchema | InstallUserSchema;

  @ApiProperty({ type: AppAttestSchema })
  app_attest: AppAttestSchema;
}

@ApiSchema({ name: 'AppApiKeyAuthentication' })
@ApiExtraModels(HeaderUserSchema, IssuerUserSchema, NoUserSchema)
class ApiKeyAuthenticationSchema {
  @ApiProperty({ type: 'string', enum: ['api_key'] })
  type: 'api_key';

  @ApiProperty({
    oneOf: [
      { $ref: getSchemaPath(HeaderUserSchema) },
      { $ref: getSchemaPath(IssuerUserSchema) },
      { $ref: getSchemaPath(NoUserSchema) },
    ],
    required: false,
    description: 'Absent: calls belong to no user.',
  })
  end_user?: HeaderUserSchema | IssuerUserSchema | NoUserSchema;
}

/** Either authentication type. The class that uses it needs {@link WithAuthentication}. */
export const AUTHENTICATION = {
  oneOf: [{ $ref: getSchemaPath(DeviceAuthenticationSchema) }, { $ref: getSchemaPath(ApiKeyAuthenticationSchema) }],
  description: 'How callers prove themselves.',
};

/** Adds the schemas of {@link AUTHENTICATION} to the document. */
export const WithAuthentication = (): ClassDecorator =>
  ApiExtraModels(DeviceAuthenticationSchema, ApiKeyAuthenticationSchema);
