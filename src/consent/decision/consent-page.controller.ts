import { Controller, Get, Post, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { FormOrJson } from '../../common/fields/request-shape.pipe.js';
import { PageAccess, PageFormAccess, render } from '../../console/pages/page.js';
import { PageErrorFilter } from '../../console/pages/page-error.filter.js';
import { leavingPage } from '../../console/pages/sign-in-forms.js';
import type { BrowserClient } from '../../sign-in/browser-sessions.service.js';
import { type PageProof, PageSteps, type SteppedPage, type StepResult } from '../../sign-in/page-form-steps.service.js';
import { People } from '../../sign-in/people/people.service.js';
import { Google } from '../../sign-in/third-party/google.js';
import { ConsentForm } from '../dto/consent.request.js';
import { OAuthEnabledGuard } from '../server/oauth.guard.js';
import { consentLinkPage, consentPage, consentPath, decidedPage } from './consent-page.views.js';
import { Consents } from './consents.service.js';

@Controller('oauth/consent')
@UseFilters(PageErrorFilter)
@UseGuards(OAuthEnabledGuard)
export class ConsentPageController implements SteppedPage<ConsentForm> {
  readonly leave = (url: string) => render(leavingPage(url));

  constructor(
    private readonly consents: Consents,
    private readonly google: Google,
    private readonly people: People,
    private readonly steps: PageSteps,
  ) {}

  @Get()
  @PageAccess()
  openLink(@Query('id') id: unknown): string {
    return render(consentLinkPage(requireId(id)));
  }

  @Post()
  @PageFormAccess()
  decide(
    @Query('id') sentId: unknown,
    @FormOrJson(ConsentForm) form: ConsentForm,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.steps.run(this, { id: requireId(sentId), form }, request, reply);
  }

  async take(form: ConsentForm, { id, submission }: PageProof, browser: BrowserClient): Promise<StepResult> {
    const { step } = form;
    switch (step) {
      case undefined:
        return { browser };
      case 'allow': {
        form.requireSure();
        const { organizationId, grant } = form;
        if (organizationId === undefined) throw invalidRequest('organizationId', 'choose the account');
        if (grant === undefined) throw invalidRequest('grant', 'choose what the client may do');
        const redirect = await this.consents.allow(id, submission, { organizationId, grant }, browser);
        return { document: render(decidedPage('Approved', redirect)) };
      }
      case 'guest':
        form.requireSure();
        return { document: render(decidedPage('Approved', await this.consents.guest(id, submission, browser))) };
      case 'deny':
        return { document: render(decidedPage('Denied', await this.consents.deny(id, submission, browser))) };
      default:
        await this.consents.authorized(id, submission);
        return { signIn: step, purpose: { page: consentPath(id), isClaiming: false } };
    }
  }

  async show({ id, submission }: PageProof, browser: BrowserClient, problem?: string): Promise<string> {
    const details = await this.consents.details(id, submission, browser);
    const submissionToken = submission.reveal();
    const choices = { googleEnabled: this.google.isEnabled, registrationOpen: await this.people.isSignUpOpen() };
    return render(consentPage({ details, submissionToken, ...choices, problem }));
  }
}

/** @throws invalid_request */
function requireId(id: unknown): string {
  if (typeof id === 'string' && /^oauth-[0-9a-f]{64}$/.test(id)) return id;
  throw invalidRequest('id', 'is not the id of an authorization; start again in your client');
}
