import { ApiHeader } from '@nestjs/swagger';
import { CONSOLE_HEADER } from './first-party/first-party.rules.js';

/** When `x-console-request` is required, for the OpenAPI document. */
const DEMANDS = {
  session: { required: true, description: 'Proves that a page of the console sends the session’s cookie.' },
  withSession: { required: false, description: 'Required with a session’s cookie.' },
  withoutOrigin: {
    required: false,
    description:
      'Where nothing says which page a request is from: required of one that changes something and brings a session’s cookie, when it has no `Origin`.',
  },
} as const;

/** Documents the header `x-console-request`. */
export function ConsoleHeader(demand: keyof typeof DEMANDS): MethodDecorator {
  return ApiHeader({ name: CONSOLE_HEADER, ...DEMANDS[demand], schema: { type: 'string', enum: ['1'] } });
}

/** Documents the header `Origin`. Browsers send it; a foreign origin is refused. */
export function OriginHeader({ required }: { readonly required: boolean }): MethodDecorator {
  return ApiHeader({
    name: 'Origin',
    required,
    description: `The console’s own; any other is refused${required ? ', and so is none' : ''}. Browsers send it themselves.`,
  });
}

/** Documents the header `X-Client`. */
export function ClientLabelHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Client',
    required: false,
    description: 'Through which program a management key is used. Only records say it; any other value counts as none.',
    schema: { type: 'string', enum: ['cli', 'mcp'] },
  });
}
