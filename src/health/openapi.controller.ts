import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { PublicAccess } from '../common/http/access.js';

/** The OpenAPI document, rendered once at start. */
@Injectable()
export class OpenApiDocument {
  private rendered = '{}';

  set(document: object): void {
    this.rendered = JSON.stringify(document);
  }

  get json(): string {
    return this.rendered;
  }
}

@Controller()
export class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('openapi.json')
  @PublicAccess()
  @ApiExcludeEndpoint()
  @Header('content-type', 'application/json; charset=utf-8')
  describe(): string {
    return this.document.json;
  }
}
