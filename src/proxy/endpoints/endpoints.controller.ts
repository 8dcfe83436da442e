import { Controller, Post } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiParam } from '@nestjs/swagger';
import { CallerAccess } from '../../client-auth/callers/caller-access.decorator.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { escapedRoute } from '../proxy-path.rules.js';
import { RelayedCall } from '../relayed-call.decorator.js';

/**
 * Declares access and documentation of the named endpoints. `ProxyEntry` handles their calls before the framework; a
 * request that the router still dispatches here has an escaped URL.
 */
@Controller('v1/apps/:app/endpoints')
export class EndpointsController {
  @Post(':slug')
  @CallerAccess()
  @RelayedCall()
  @Operation({
    id: 'callNamedEndpoint',
    tag: 'Named endpoints',
    summary: 'Call a named endpoint of the application',
    description:
      'The endpoint’s configuration determines provider, model, parameters and fallbacks. Style `responses`: a Responses body; the endpoint’s `params` are merged over it and take precedence, `model` may be left out and is overwritten. Style `transcription`: a form with the audio as `file`; `model` may be left out and is overwritten. A target that cannot be reached, is rate limited or fails is replaced by the next one while nothing has been answered. The answer is the serving provider’s own, streams unbuffered.',
  })
  @ApiParam({
    name: 'slug',
    description: 'Key of the endpoint in the application’s configuration.',
    schema: { type: 'string', pattern: '^[a-z0-9-]{1,64}$' },
  })
  @ApiConsumes('application/json', 'multipart/form-data')
  @ApiBody({
    required: true,
    description: 'By the endpoint’s style: a JSON object or a form. At most 20 MiB.',
    schema: {
      type: 'object',
      properties: {
        model: { description: 'Overwritten by the endpoint’s.' },
        input: { description: 'Style `responses`: the prompt.' },
        stream: { type: 'boolean', description: 'Answer as a stream of events.' },
        file: { type: 'string', format: 'binary', description: 'Style `transcription`: the audio.' },
      },
      additionalProperties: true,
    },
  })
  @Fails('endpoint_not_found')
  call(): never {
    throw escapedRoute();
  }
}
