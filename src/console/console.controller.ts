import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../common/errors/gateway-error.js';
import { PublicAccess } from '../common/http/access.js';
import { Ids } from '../common/ids.js';
import { ConsoleFiles } from './console-files.js';
import { ConsolePageAccess, noSuchRoute, YEAR_SECONDS } from './console-page.js';

const NONCE_BYTES = 16;

/** Addresses of the console; `clients/console/src/routes.tsx` shows them. Every other address stays the API's. */
const ADDRESSES = [
  ...['', 'login', 'signup', 'invite', 'recover', 'reset', 'start', 'apps', 'apps/new', 'apps/:id/:tab'],
  ...['usage', 'providers', 'providers/gateways', 'models', 'access', 'members', 'audit', 'health'],
  ...['webhooks', 'webhooks/:webhook'],
  ...['settings/profile', 'settings/security', 'settings/mail'],
];

/** Tabs of an application. */
const TABS: ReadonlySet<string> = new Set([
  ...['overview', 'auth', 'proxy', 'endpoints', 'limits', 'users', 'user', 'usage', 'auth-events', 'settings'],
]);

/** The console: one page for all of its addresses, and its assets. */
@Controller()
@ApiExcludeController()
export class ConsoleController {
  constructor(
    private readonly files: ConsoleFiles,
    private readonly ids: Ids,
  ) {}

  @Get(ADDRESSES)
  @ConsolePageAccess()
  @Header('content-type', 'text/html; charset=utf-8')
  page(@Param('tab') tab: string | undefined, @Res({ passthrough: true }) reply: FastifyReply): string {
    if (tab !== undefined && !TABS.has(tab)) throw noSuchRoute();
    const nonce = this.ids.bytes(NONCE_BYTES).toString('base64url');
    const page = this.files.page(nonce);
    if (page === undefined) throw notBuilt();
    void reply.header('content-security-policy', policyWith(nonce));
    return page;
  }

  @Get('assets/:name')
  @PublicAccess()
  asset(
    @Param('name') name: string,
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Buffer {
    const sent = headers['accept-encoding'];
    const file = this.files.asset(name, typeof sent === 'string' ? sent : '');
    if (file === undefined) throw noSuchRoute();
    const { body, contentType, contentEncoding } = file;
    void reply.headers({
      'content-type': contentType,
      'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
      vary: 'accept-encoding',
      ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
    });
    return body;
  }
}

/** Nothing but this origin's own files; the nonce is for the style elements of dialogs and for the theme. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

function notBuilt(): GatewayError {
  return new GatewayError('not_found', {
    message: 'The console is not built: run `npm run build`. The API works without it.',
    reason: 'console_not_built',
  });
}
