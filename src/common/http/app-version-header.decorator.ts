import { ApiHeader } from '@nestjs/swagger';

/** Names `X-App-Version` in the document. @param demand when it is required; never when absent. */
export function AppVersionHeader(demand?: string): MethodDecorator & ClassDecorator {
  const use = 'Version of the application that calls; of longer ones, the first 64 characters are recorded.';
  return ApiHeader({
    name: 'X-App-Version',
    required: false,
    description: demand === undefined ? use : `${use} ${demand}`,
  });
}
