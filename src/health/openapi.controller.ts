import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { PublicAccess } from '../common/http/access.js';

/** The OpenAPI document, rendered when it is read for the first time: that takes as long as a tenth of a start. */
@Injectable()
export class OpenApiDocument {
  private rendered: string | undefined;
  private describe: () => object = () => ({});

  /** @param describe called once at most. */
  describedBy(describe: () => object): void {
    this.describe = describe;
  }

  get json(): string {
    this.rendered ??= JSON.stringify(this.describe());
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
