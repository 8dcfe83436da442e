import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { DEFAULT_USER_HEADER } from '../app-directory/config/authentication-config.rules.js';
import { AppVersionHeader } from '../common/http/app-version-header.decorator.js';
import type { CallerNeeds } from './caller.js';

/** Documents the request headers of callers besides the credential. */
export function CallerHeaders({ appVersion }: CallerNeeds): MethodDecorator {
  return applyDecorators(
    AppVersionHeader(appVersion === 'optional' ? undefined : 'Required with a gateway token.'),
    ApiHeader({
      name: DEFAULT_USER_HEADER,
      required: false,
      description:
        'The user a backend calls for. Required where the application’s `authentication.end_user.source` is `header`; `end_user.header` may give it another name.',
      schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
    }),
  );
}
