import { All, Controller } from '@nestjs/common';
import { ApiBody, ApiParam, ApiResponse } from '@nestjs/swagger';
import { CallerAccess } from '../client-auth/caller-access.decorator.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { escapedRoute } from './proxy-path.rules.js';

/** The header of every relayed answer, as the document describes it. */
export const SERVER_TIMING_HEADER = {
  'Server-Timing': {
    description: 'Milliseconds spent on `auth`, `limiter` and until the provider’s first byte (`provider_ttfb`).',
    schema: { type: 'string' as const },
  },
};

/**
 * Declares who may call the proxy's routes and what they do. The calls themselves are taken by `ProxyDoor` before the
 * framework sees them; what a router still leads here is no URL of the proxy's.
 */
@Controller('v1/apps/:app/proxy')
export class ProxyController {
  @All([':provider', ':provider/*'])
  @CallerAccess()
  @Operation({
    id: 'proxyProviderRequest',
    tag: 'Provider proxy',
    summary: 'Call a provider in its own request format',
    description:
      'Checked, recorded and sent to the provider with the operator’s key; the answer comes back as it comes, streams unbuffered. Provider errors are relayed as they are: an `error.code` of this document means that the gateway answered.',
  })
  @ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
  @ApiParam({ name: 'provider', description: 'Slug of the provider instance.', schema: { type: 'string' } })
  @ApiParam({
    name: 'path',
    description: 'Path below the provider’s base URL, such as `v1/chat/completions`.',
    schema: { type: 'string' },
  })
  @ApiBody({
    required: true,
    description: 'A JSON object, or a form for transcriptions, as the provider documents it. At most 20 MiB.',
    schema: { type: 'object', additionalProperties: true },
  })
  @ApiResponse({
    status: 'default',
    description: 'The provider’s answer, with its status.',
    headers: SERVER_TIMING_HEADER,
    content: { '*/*': { schema: {} } },
  })
  @Fails(
    'invalid_request',
    'pricing_not_configured',
    'auth_required@403',
    'path_not_allowed',
    'model_not_allowed',
    'api_style_not_supported',
    'max_output_tokens_exceeded',
    'payload_too_large',
    'provider_not_configured',
    'provider_disabled',
    'provider_unavailable',
    'provider_error',
    'provider_error@504',
    'service_unavailable',
  )
  forward(): never {
    throw escapedRoute();
  }
}
