import { Body, Controller, HttpCode, Module, Param, Post } from '@nestjs/common';
import { ApiNoContentResponse } from '@nestjs/swagger';
import { GatewayError } from '../../../../src/common/errors/gateway-error.js';
import { Text } from '../../../../src/common/fields/fields.js';
import { PublicAccess } from '../../../../src/common/http/access.js';
import { Fails, Operation } from '../../../../src/common/http/openapi.decorators.js';
import { AddressLimited } from '../../../../src/platform/address-limits/address-limit.guard.js';
import { AddressLimitsModule } from '../../../../src/platform/address-limits/address-limits.module.js';
import type { ApiAnswer } from '../../api-client.js';
import { FakeClock } from '../../clock.js';
import { startWorld, type World } from '../../world.js';

/** A quarter of a second into the 21st second of a minute. */
export const IN_A_MINUTE = Date.UTC(2030, 0, 1, 10, 0, 20, 250);
export const KNOWN_APP = 'known';

class GreetingRequest {
  @Text({ min: 1, max: 10 })
  word: string;
}

/** Stands for a public route of an application: looks the application up after its body was parsed. */
@Controller('v1/apps/:app/greeting')
class GreetingController {
  @Post()
  @PublicAccess()
  @HttpCode(204)
  @Operation({ id: 'greet', tag: 'Operations', summary: 'Only in tests.' })
  @ApiNoContentResponse()
  @Fails('invalid_request', 'app_not_found')
  @AddressLimited('app_auth_token')
  greet(@Param('app') app: string, @Body() _body: GreetingRequest): void {
    if (app !== KNOWN_APP) throw new GatewayError('app_not_found');
  }

  @Post('other')
  @PublicAccess()
  @HttpCode(204)
  @Operation({ id: 'greetOtherwise', tag: 'Operations', summary: 'Only in tests.' })
  @ApiNoContentResponse()
  @AddressLimited('app_auth_challenge')
  otherwise(): void {}
}

@Module({ imports: [AddressLimitsModule], controllers: [GreetingController] })
class GreetingModule {}

interface Call {
  readonly app?: string;
  readonly route?: '/other';
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service with those routes, whose clock stands still in the middle of a window. */
export function startLimitedWorld(env: Record<string, string>, clock = new FakeClock(IN_A_MINUTE)): Promise<World> {
  return startWorld({ env: { REDIS_URL: '', ...env }, clock, imports: [GreetingModule] });
}

/** One call as an anonymous client sends it, its answer checked against the OpenAPI document. */
export function call(world: World, { app = KNOWN_APP, route, raw = '{"word":"hello"}', headers = {} }: Call = {}) {
  return world.as(undefined).post(`/v1/apps/${app}/greeting${route ?? ''}`, undefined, {
    raw,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** As the proxy in front hands it on. */
export function from(address: string): Call {
  return { headers: { 'x-forwarded-for': address } };
}

export async function callTimes(times: number, world: World, request: Call = {}): Promise<ApiAnswer[]> {
  return Promise.all(Array.from({ length: times }, () => call(world, request)));
}

export function statuses(answers: readonly ApiAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Addresses nobody has used yet, so that each test has its own counters in one world. */
let nextAddress = 0;
export function freshAddress(): string {
  nextAddress++;
  return `198.18.${nextAddress >> 8}.${nextAddress & 255}`;
}
