import { ApiHeader } from '@nestjs/swagger';

/** Documents `X-App-Version`. @param demand when the header is required; optional when absent. */
export function AppVersionHeader(demand?: string): MethodDecorator & ClassDecorator {
  const use = 'Version of the application that calls; of longer ones, the first 64 characters are recorded.';
  return ApiHeader({
    name: 'X-App-Version',
    required: false,
    description: demand === undefined ? use : `${use} ${demand}`,
  });
}
