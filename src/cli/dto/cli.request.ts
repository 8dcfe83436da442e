import type { ApiPropertyOptions } from '@nestjs/swagger';
import { EmailAddress } from '../../accounts/access/email-address.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { DisplayName, Flag, JsonObject, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { Month } from '../../common/fields/list-fields.js';
import { readShape } from '../../common/fields/read-shape.js';
import { MAX_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import { Secret } from '../../common/log/secret.js';
import { PROOF } from '../../common/proof-hash.rules.js';
import { MAX_NAME, MAX_PASSWORD, MIN_PASSWORD } from '../../sign-in/people/person.rules.js';
import type { Approval } from '../handoff/handoff.service.js';
import type { LoginRequest } from '../logins/cli-logins.service.js';
import { isLoopbackRedirect } from '../operations/operation.rules.js';
import { BROWSER_STEPS, type OperationRequest, type TerminalKind } from '../operations/terminal-operations.service.js';
import { requireTypedSecret } from './typed-secret.rules.js';

/** Body limit of terminals' routes. Source: docs/reference/management-api.md#terminal-login. */
export const CLI_BODY = { maxBodyBytes: 65_536, bodyTooLargeCode: 'invalid_request' } as const;

const MAX_LABEL = 200;
const MAX_OS = 64;
const MAX_USER_CODE = 32;
const MAX_PROOF = 256;
const MAX_ORGANIZATION_ID = 256;
const PROOF_TEXT = '32 to 256 letters, digits, "-" and "_"';
const TOKEN =
  'Created and stored by the terminal before it is sent; it identifies the operation and authenticates its polls.';
const SUBMISSION = 'The text after `#` in the link; for a login also the user code.';
const LOOPBACK = 'exactly "http://127.0.0.1:<port>/callback"';

class ClientDescription {
  @DisplayName({ max: MAX_LABEL, description: 'What the person sees, such as the name of the machine.' })
  readonly label: string;

  @DisplayName({ max: MAX_OS, optional: true })
  readonly os?: string;
}

const CLIENT_SCHEMA: ApiPropertyOptions = {
  type: 'object',
  properties: {
    label: { type: 'string', minLength: 1, maxLength: MAX_LABEL, description: 'Such as the name of the machine.' },
    os: { type: 'string', minLength: 1, maxLength: MAX_OS },
  },
  required: ['label'],
  additionalProperties: false,
};

export class OpenLoginRequest {
  @Text({ max: MAX_PROOF, pattern: PROOF, patternText: PROOF_TEXT, description: TOKEN })
  readonly token: string;

  @JsonObject({ schema: CLIENT_SCHEMA, description: 'The client’s own description.' })
  readonly client: object;

  @Verbatim({
    max: 40,
    optional: true,
    description: `Where the terminal listens: ${LOOPBACK}. The page redirects the browser there with a one-time code.`,
  })
  readonly loopbackRedirect?: string;

  /** @throws invalid_request at `client.…` and `loopbackRedirect`. */
  toLogin(address: string): LoginRequest {
    const { label, os = null } = readShape(ClientDescription, this.client, 'client');
    const { loopbackRedirect = null } = this;
    if (loopbackRedirect !== null && !isLoopbackRedirect(loopbackRedirect)) {
      throw invalidRequest('loopbackRedirect', `must be ${LOOPBACK}, with a port from 1 to 65535`);
    }
    return { token: new Secret(this.token), client: { label, os }, loopbackRedirect, address };
  }
}

export class BootstrapRequest {
  @Text({ max: MAX_PROOF, pattern: PROOF, patternText: PROOF_TEXT, description: TOKEN })
  readonly token: string;
}

export class CreateOperationRequest {
  @OneOf(Object.keys(BROWSER_STEPS), { description: 'The requested change.' })
  readonly kind: TerminalKind;

  @JsonObject({
    description:
      'The body of the management route, without the secret where a person types it, plus what the route has in its path: `app`, `provider` or `gateway`.',
  })
  readonly payload: object;

  @Text({ max: MAX_PROOF, pattern: PROOF, patternText: PROOF_TEXT, description: TOKEN })
  readonly token: string;

  @Flag({
    optional: true,
    description: 'Whether a person completes it in a browser; for `provider.add` and `provider-gateway.add`.',
  })
  readonly browser?: boolean;

  /** @param address of the terminal. */
  toOperation(address: string): OperationRequest {
    const { kind, payload, token, browser = false } = this;
    return { kind, payload, token: new Secret(token), browser, address };
  }
}

export class AccountUsageRequest {
  @Month()
  readonly month?: string;
}

export class RedeemLoginRequest {
  @Text({
    max: MAX_PROOF,
    pattern: PROOF,
    patternText: PROOF_TEXT,
    description: 'The `code` of the redirect to the listener.',
  })
  readonly redeemCode: string;
}

export class UserCodeRequest {
  @Text({ max: MAX_USER_CODE, description: 'As the terminal shows it; case, blanks and dashes do not matter.' })
  readonly userCode: string;
}

/** The proof of a browser step. */
function SubmissionToken(): PropertyDecorator {
  return Verbatim({ max: MAX_PROOF, description: SUBMISSION });
}

export class SubmissionRequest {
  @SubmissionToken()
  readonly submissionToken: string;
}

export class SubmitHandoffRequest {
  @SubmissionToken()
  readonly submissionToken: string;

  @Flag({ description: '`true`; to decline, use `deny`.' })
  readonly approve: boolean;

  @Verbatim({
    max: MAX_SECRET_CHARACTERS,
    optional: true,
    description: 'The provider’s key, if the operation needs it.',
  })
  readonly secret?: string;

  @Text({ max: MAX_ORGANIZATION_ID, optional: true, description: 'The account of a login; required with several.' })
  readonly organizationId?: string;

  /** @throws invalid_request at `approve` unless it is true, and at `secret` as the route of a provider. */
  toApproval(): Approval {
    if (!this.approve) throw invalidRequest('approve', 'must be true; use deny to decline');
    const { organizationId, secret } = this;
    requireTypedSecret(secret);
    return { organizationId, secret };
  }
}

export class RegisterForHandoffRequest {
  @SubmissionToken()
  readonly submissionToken: string;

  @EmailAddress({ description: 'Compared case-insensitively; no mail is sent to it.' })
  readonly email: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD })
  readonly password: string;

  @DisplayName({ max: MAX_NAME })
  readonly name: string;
}
