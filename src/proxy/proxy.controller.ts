import { All, Controller } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { CallerAccess } from '../client-auth/callers/caller-access.decorator.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { escapedRoute } from './proxy-path.rules.js';
import { NativeCredentials, RelayedCall } from './relayed-call.decorator.js';

/**
 * Declares access and documentation of the proxy routes. `ProxyEntry` handles their calls before the framework; a
 * request that the router still dispatches here has an escaped URL.
 */
@Controller('v1/apps/:app/proxy')
export class ProxyController {
  @All([':provider', ':provider/*'])
  @NativeCredentials()
  @CallerAccess()
  @RelayedCall()
  @Operation({
    id: 'proxyProviderRequest',
    tag: 'Provider proxy',
    summary: 'Call a provider in its own request format',
    description:
      'Checked, recorded and sent to the provider with the operator’s key; the answer is relayed as it arrives, streams unbuffered. POST, unless the application allows the path with other methods, GET for lists of models; a GET or DELETE has no body. Provider errors are relayed unchanged: an `error.code` of this document means that the gateway answered.',
  })
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
  @Fails('path_not_allowed', 'model_not_allowed', 'api_style_not_supported')
  forward(): never {
    throw escapedRoute();
  }
}
