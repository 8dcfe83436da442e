import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Deployment } from '../../accounts/access/deployment.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { Clock } from '../../common/clock.js';
import { PublicAccess } from '../../common/http/access.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { VERSION } from '../../common/version.js';
import { dialectOf } from '../../upstreams/provider-dialect.js';
import { PROVIDER_TYPES } from '../../upstreams/provider-types.js';
import { AppUsageTotals } from '../../usage/reports/app-usage-totals.service.js';
import { AccountUsageRequest } from '../dto/cli.request.js';
import { CliAccountResponse, CliCapabilitiesResponse, CliUsageResponse } from '../dto/cli-account.response.js';

const TAG = 'CLI';
const STREAM_PARTS = 6;
const STREAM_PAUSE_MS = 100;

@Controller('v1/cli')
export class CliAccountController {
  constructor(
    private readonly deployment: Deployment,
    private readonly organizations: Organizations,
    private readonly usage: AppUsageTotals,
    private readonly directory: AppDirectoryService,
    private readonly clock: Clock,
  ) {}

  @Get('capabilities')
  @PublicAccess()
  @Operation({ id: 'getCliCapabilities', tag: TAG, summary: 'Read what this deployment offers to terminals' })
  @ApiOkResponse({ type: CliCapabilitiesResponse })
  async capabilities(): Promise<CliCapabilitiesResponse> {
    return CliCapabilitiesResponse.from(VERSION, await this.deployment.facts(), PROVIDER_TYPES.map(dialectOf));
  }

  @Get('account')
  @AdminAccess('read')
  @Operation({ id: 'getCliAccount', tag: TAG, summary: 'Read the account of the credential' })
  @ApiOkResponse({ type: CliAccountResponse })
  async account(@Admin() { organizationId }: AdminPrincipal): Promise<CliAccountResponse> {
    return CliAccountResponse.from(await this.deployment.facts(), await this.organizations.read(organizationId));
  }

  @Get('stream')
  @AdminAccess('read')
  @Operation({
    id: 'getCliStream',
    tag: TAG,
    summary: 'Test streaming',
    description: 'Sends parts of an event stream over half a second. A buffering proxy delivers them all at once.',
  })
  @ApiOkResponse({ content: { 'text/event-stream': { schema: { type: 'string', example: 'data: {"part":1}\n\n' } } } })
  stream(): StreamableFile {
    return new StreamableFile(Readable.from(slowParts()), { type: 'text/event-stream' });
  }

  @Get('usage')
  @AdminAccess('read')
  @Operation({
    id: 'getCliUsage',
    tag: TAG,
    summary: 'Read the usage of the account in a month',
    description: 'Of all applications, deleted ones included.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: CliUsageResponse })
  async usageOf(
    @Admin() { organizationId: accountId }: AdminPrincipal,
    @Query() { month = this.clock.utcMonth() }: AccountUsageRequest,
  ): Promise<CliUsageResponse> {
    const usage = await this.usage.totalsOfAccount(accountId, month);
    const existing = await this.directory.ownIds(
      accountId,
      usage.apps.map(({ appId }) => appId),
    );
    return CliUsageResponse.from({ accountId, month }, usage, existing);
  }
}

async function* slowParts(): AsyncGenerator<string> {
  for (let part = 1; part <= STREAM_PARTS; part++) {
    if (part > 1) await pause(STREAM_PAUSE_MS);
    yield `data: {"part":${part}}\n\n`;
  }
}
