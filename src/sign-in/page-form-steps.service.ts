import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../common/errors/gateway-error.js';
import { GatewayErrorLog } from '../common/errors/gateway-error-log.js';
import { Secret } from '../common/log/secret.js';
import { type BrowserClient, BrowserClients } from './browser-sessions.service.js';
import { PageSignIn, type SignInForm, type SignInPurpose, type SignInStep } from './page-sign-in.service.js';

/** The result of a step: the document that ends it, the page again, or a sign-in or sign-out. */
export type StepResult =
  | { readonly document: string }
  | { readonly browser: BrowserClient }
  | { readonly signIn: SignInStep; readonly purpose: SignInPurpose };

/** A form of a page; one without a step only opens it. */
export interface StepForm extends SignInForm {
  readonly submissionToken: string;
  readonly step?: string;
}

/** What the page is about, and the proof or user code that the browser has. */
export interface PageProof {
  readonly id: string;
  readonly submission: Secret;
}

/** A page whose forms run steps. */
export interface SteppedPage<Form extends StepForm> {
  take(form: Form, proof: PageProof, browser: BrowserClient): Promise<StepResult>;
  /** Sends the browser to a third party. */
  leave(url: string): string;
  /** @param problem why the step was refused. */
  show(proof: PageProof, browser: BrowserClient, problem?: string): Promise<string>;
}

/** Runs the steps of pages: a refused step shows the page again, with the reason, the status and a log line. */
@Injectable()
export class PageSteps {
  constructor(
    private readonly browsers: BrowserClients,
    private readonly signIns: PageSignIn,
    private readonly errorLog: GatewayErrorLog,
  ) {}

  /** @throws what opening the page throws, and errors of the service. */
  async run<Form extends StepForm>(
    page: SteppedPage<Form>,
    { id, form }: { readonly id: string; readonly form: Form },
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string> {
    const proof = { id, submission: new Secret(form.submissionToken) };
    const browser = await this.browsers.of(request, reply);
    try {
      const taken = await page.take(form, proof, browser);
      if ('document' in taken) return taken.document;
      const result =
        'browser' in taken ? taken : await this.signIns.take(taken.signIn, form, taken.purpose, { browser, reply });
      return 'leaveFor' in result ? page.leave(result.leaveFor) : await page.show(proof, result.browser);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500 || form.step === undefined) throw error;
      if (error.reason === 'submission_token_wrong') throw error;
      const shown = await page.show(proof, browser, error.message);
      this.errorLog.write(request, error);
      void reply.code(error.status);
      return shown;
    }
  }
}
