import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ConsolePageAccess, noSuchRoute, YEAR_SECONDS } from './console-page.js';
import { DocumentationFiles } from './documentation-files.js';

/** Alternative addresses of a page: as a folder, or as its source file. */
const OTHER_SPELLING = /(?:\/|\.md)$/;

/** The documentation of this version: pages for anybody, as the documents of the repository are. */
@Controller('docs')
@ApiExcludeController()
export class DocumentationController {
  constructor(private readonly files: DocumentationFiles) {}

  @Get(['', '*'])
  @ConsolePageAccess()
  async page(
    @Req() { url, headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    if (!this.files.isBuilt) throw notBuilt();
    const [address = ''] = url.split('?', 1);
    const file = this.files.fileAt(address);
    if (file === undefined) {
      const meant = address.replace(OTHER_SPELLING, '');
      if (this.files.fileAt(meant) === undefined) throw noSuchRoute();
      void reply.code(302).header('location', meant);
      return undefined;
    }
    const { type, version, isImmutable } = file;
    const etag = `W/"${version}"`;
    void reply.headers({
      'content-type': type,
      'content-security-policy': policyWith(this.files.script),
      // Browsers revalidate a page each time; it is sent again when it has changed.
      'cache-control': isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, no-cache',
      vary: 'accept-encoding',
      etag,
    });
    if (isKnown(headers['if-none-match'], version)) {
      void reply.code(304);
      return undefined;
    }
    const sent = headers['accept-encoding'];
    const { body, contentEncoding } = await this.files.contentOf(file, typeof sent === 'string' ? sent : '');
    if (contentEncoding !== undefined) void reply.header('content-encoding', contentEncoding);
    return body;
  }
}

/** Source: RFC 9110 13.1.2; weak comparison. */
function isKnown(ifNoneMatch: string | undefined, version: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return known.includes(`"${version}"`) || known.includes('*');
}

/** Nothing but this origin's own files; the hash is that of the script that sets the theme before the first paint. */
function policyWith(script: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${script}'`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

function notBuilt(): GatewayError {
  return new GatewayError('not_found', {
    message: 'The documentation is not built: run `npm run build`. The API works without it.',
    reason: 'documentation_not_built',
  });
}
