import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import type { AppSnapshot } from '../../app-directory/app-snapshot.js';
import { Refusals } from '../../common/errors/error-answers.js';
import { requireOneMeaning } from '../../common/http/request-head.rules.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import { appIdOf, callHeaders, isPreflight, originsOf, preflightHeaders } from './cross-origin.rules.js';

/**
 * Lets the pages of the origins that an application lists call its routes (CORS). It runs before every route, so that
 * pages can also read every refusal. An application without a list answers without CORS.
 *
 * Source: docs/reference/application-api.md#calls-from-web-pages.
 */
@Injectable()
export class CrossOrigin {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly refusals: Refusals,
  ) {}

  /**
   * Answers a preflight; passes any other request to `route`, once its answer has the headers. @param message with an
   * origin.
   */
  prepare(message: IncomingMessage, response: ServerResponse, route: RequestListener): void {
    const appId = appIdOf(message.url);
    if (appId === undefined) {
      route(message, response);
      return;
    }
    if (isPreflight(message)) {
      this.answerPreflight(appId, message, response).catch((error: unknown) => {
        const { method = '', headers } = message;
        this.refusals.answerThrown({ raw: message, method, headers }, response, error);
      });
      return;
    }
    const proceed = () => route(message, response);
    const found = this.find(appId, response);
    // The route looks up the application again, and refuses the call if it cannot be read.
    if (found instanceof Promise) void found.then(proceed, proceed);
    else proceed();
  }

  /** Finds the application of a call, as `AppDirectoryService.find`, and sets the headers of the answer. */
  find(appId: string, response: ServerResponse): MaybePromise<AppSnapshot | undefined> {
    return whenResolved(this.apps.find(appId), (app) => {
      const allowed = originsOf(app);
      if (allowed === undefined || response.headersSent) return app;
      for (const [name, value = ''] of Object.entries(callHeaders(allowed, response.req.headers.origin)))
        response.setHeader(name, value);
      return app;
    });
  }

  private async answerPreflight(appId: string, message: IncomingMessage, response: ServerResponse): Promise<void> {
    requireOneMeaning(message);
    const { origin = '', 'access-control-request-headers': requested } = message.headers;
    const allowed = originsOf(await this.apps.find(appId));
    response.writeHead(204, preflightHeaders(allowed, origin, requested)).end();
  }
}
