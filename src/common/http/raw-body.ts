import type { IncomingHttpHeaders } from 'node:http';

/** A media type, whatever parameters follow. Source: RFC 9110 8.3.1. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/** A management body as it was received: read within its bound, parsed only after the caller proved who they are. */
export class RawBody {
  constructor(
    readonly bytes: Buffer,
    readonly contentType: string,
  ) {}
}

/**
 * Takes a content type that is none off a request. The framework would refuse it before it knows the route and before
 * anybody has proved who they are; a body without a content type is refused where one is read.
 *
 * @param headers changed in place.
 * Source: docs/reference/management-api.md#requests-and-bodies, docs/reference/management-api.md#order-of-checks.
 */
export function dropMalformedContentType(headers: IncomingHttpHeaders): void {
  const sent = headers['content-type'];
  if (sent !== undefined && !MEDIA_TYPE.test(sent)) delete headers['content-type'];
}
