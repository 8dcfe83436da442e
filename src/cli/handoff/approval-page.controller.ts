import { Controller, Get, Header, Param, Post, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormOrJson } from '../../common/fields/request-shape.pipe.js';
import { Secret } from '../../common/log/secret.js';
import { PageAccess, PageFormAccess, render, withStatus } from '../../console/pages/page.js';
import { PageErrorFilter } from '../../console/pages/page-error.filter.js';
import { leavingPage } from '../../console/pages/sign-in-forms.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { type BrowserClient, BrowserClients } from '../../sign-in/browser-sessions.service.js';
import { type PageProof, PageSteps, type SteppedPage, type StepResult } from '../../sign-in/page-form-steps.service.js';
import { People } from '../../sign-in/people/people.service.js';
import { Google } from '../../sign-in/third-party/google.js';
import { ApprovalForm } from '../dto/approval-form.request.js';
import { UserCodeRequest } from '../dto/cli.request.js';
import { UserCodes } from '../logins/user-codes.service.js';
import { approvalPath } from '../operations/operation.rules.js';
import { approvalPage, approvedPage, codePage, deniedPage, linkPage } from './approval-page.views.js';
import { Handoffs } from './handoff.service.js';

@Controller('cli')
@UseFilters(PageErrorFilter)
export class ApprovalPageController implements SteppedPage<ApprovalForm> {
  readonly leave = (url: string) => render(leavingPage(url));

  constructor(
    private readonly handoffs: Handoffs,
    private readonly codes: UserCodes,
    private readonly google: Google,
    private readonly people: People,
    private readonly browsers: BrowserClients,
    private readonly steps: PageSteps,
  ) {}

  @Get()
  @PageAccess()
  askForCode(): string {
    return render(codePage());
  }

  @Post()
  @PageFormAccess()
  @Header('cache-control', 'no-store')
  @AddressLimited('user_code')
  async takeCode(
    @FormOrJson(UserCodeRequest) { userCode }: UserCodeRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const browser = await this.browsers.of(request, reply);
    const found = await this.codes.lookup(userCode, browser);
    if (found === undefined) {
      return withStatus(reply, 404, codePage('No pending login has this code. Check it, or start the login again.'));
    }
    return this.show({ id: found.id, submission: new Secret(userCode) }, browser);
  }

  @Get('approve/:id')
  @PageAccess()
  openLink(@Param('id') id: string): string {
    return render(linkPage(id));
  }

  @Post('approve/:id')
  @PageFormAccess()
  decide(
    @Param('id') id: string,
    @FormOrJson(ApprovalForm) form: ApprovalForm,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.steps.run(this, { id, form }, request, reply);
  }

  async take(form: ApprovalForm, { id, submission }: PageProof, browser: BrowserClient): Promise<StepResult> {
    const { step } = form;
    if (step === undefined) return { browser };
    if (step === 'approve') {
      const approved = await this.handoffs.submit(id, submission, form.toApproval(), browser);
      return { document: render(approvedPage(approved)) };
    }
    if (step === 'deny') {
      await this.handoffs.deny(id, submission, browser);
      return { document: render(deniedPage('Denied. Nothing was changed.')) };
    }
    const purpose =
      step === 'sign-out'
        ? { page: approvalPath(id), isClaiming: false }
        : await this.handoffs.signInPurpose(id, submission, browser);
    return { signIn: step, purpose };
  }

  async show({ id, submission }: PageProof, browser: BrowserClient, problem?: string): Promise<string> {
    const details = await this.handoffs.details(id, submission, browser);
    const submissionToken = submission.reveal();
    const choices = { googleEnabled: this.google.isEnabled, registrationOpen: await this.people.isSignUpOpen() };
    return render(approvalPage({ details, submissionToken, ...choices, problem }));
  }
}
