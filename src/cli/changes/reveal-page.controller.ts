import { Controller, Get, Param, Post, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GatewayErrorLog } from '../../common/errors/gateway-error-log.js';
import { FormOrJson } from '../../common/fields/request-shape.pipe.js';
import { type Page, PageAccess, PageFormAccess, withStatus } from '../../console/pages/page.js';
import { PageErrorFilter } from '../../console/pages/page-error.filter.js';
import { leavingPage } from '../../console/pages/sign-in-forms.js';
import { personOf } from '../../sign-in/approvals/approval.rules.js';
import { type BrowserClient, BrowserClients } from '../../sign-in/browser-sessions.service.js';
import { PageSignIn, type Visit } from '../../sign-in/page-sign-in.service.js';
import { People } from '../../sign-in/people/people.service.js';
import { Google } from '../../sign-in/third-party/google.js';
import { RevealForm } from '../dto/reveal-form.request.js';
import { revealPath } from '../operations/operation.rules.js';
import type { KeyState } from './change-operation.rules.js';
import { KeyReveals } from './key-reveals.service.js';
import { refusedRevealPage, revealedPage, revealPage, revealSignInPage } from './reveal-page.views.js';

/** The statuses of the route in the same states. */
const STATUSES: Readonly<Record<KeyState, number>> = { held: 200, none: 400, revealed: 409, lapsed: 410 };

/** A page with its status. */
interface Answer {
  readonly status: number;
  readonly page: Page;
}

/** The page that shows the key an AI client had issued. */
@Controller('reveal')
@UseFilters(PageErrorFilter)
export class RevealPageController {
  constructor(
    private readonly reveals: KeyReveals,
    private readonly people: People,
    private readonly signIns: PageSignIn,
    private readonly google: Google,
    private readonly browsers: BrowserClients,
    private readonly errorLog: GatewayErrorLog,
  ) {}

  @Get(':id')
  @PageAccess()
  async open(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const browser = await this.browsers.of(request, reply);
    const { status, page } = await this.show(id, browser, request);
    return withStatus(reply, status, page);
  }

  @Post(':id')
  @PageFormAccess()
  async take(
    @Param('id') id: string,
    @FormOrJson(RevealForm) form: RevealForm,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const browser = await this.browsers.of(request, reply);
    const { status, page } = await this.step(id, form, { browser, reply }, request);
    return withStatus(reply, status, page);
  }

  private async step(id: string, form: RevealForm, visit: Visit, request: FastifyRequest): Promise<Answer> {
    const { browser } = visit;
    try {
      if (form.step === 'reveal') {
        if (browser.session === undefined) return await this.show(id, browser, request);
        return { status: 200, page: revealedPage(await this.reveals.reveal(personOf(browser.session), id)) };
      }
      const result = await this.signIns.take(form.step, form, { page: revealPath(id), isClaiming: false }, visit);
      if ('leaveFor' in result) return { status: 200, page: leavingPage(result.leaveFor) };
      return await this.show(id, result.browser, request);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
      this.errorLog.write(request, error);
      // Of two people who press the button at once, the second one sees the state of the key.
      const problem = form.step === 'reveal' ? undefined : error.message;
      const { page } = await this.show(id, browser, request, problem);
      return { status: error.status, page };
    }
  }

  private async show(
    id: string,
    { session }: BrowserClient,
    request: FastifyRequest,
    problem?: string,
  ): Promise<Answer> {
    if (session === undefined) {
      return { status: 200, page: revealSignInPage({ id, problem, googleEnabled: this.google.isEnabled }) };
    }
    const viewer = await this.people.profile(session.row);
    try {
      const preview = await this.reveals.preview(personOf(session), id);
      return { status: STATUSES[preview.key], page: revealPage({ preview, viewer, problem }) };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
      this.errorLog.write(request, error);
      return { status: error.status, page: refusedRevealPage({ id, problem: error.message, viewer }) };
    }
  }
}
