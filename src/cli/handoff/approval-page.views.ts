import type { Role } from '../../accounts/access/admin-principal.js';
import { accountChoice, confirmation, NO_ACCOUNT, proofPage } from '../../console/pages/approval-forms.js';
import { type Html, html } from '../../console/pages/html.js';
import { alert, description, field, namedWithId, othersWords, type Page, timeOf } from '../../console/pages/page.js';
import {
  type SignInChoices,
  type StepForm,
  signInForms,
  stepForms,
  viewerLine,
} from '../../console/pages/sign-in-forms.js';
import { ASKED_IN, approvalPath, type OperationKind, type TerminalClient } from '../operations/operation.rules.js';
import type { Approved, HandoffDetails } from './handoff.service.js';

const TITLES: Readonly<Record<OperationKind, string>> = {
  bootstrap: 'Open an account',
  login: 'Log in a terminal',
  claim: 'Claim an account',
  'app.add': 'Add an application',
  'app.key.add': 'Add an application key',
  'provider.add': 'Add a provider',
  'provider.update': 'Change a provider',
  'provider.rotate-key': 'Replace the key of a provider',
  'provider-gateway.add': 'Add a provider gateway',
  'provider-gateway.rotate-key': 'Replace the token of a provider gateway',
};

const POWERS: Readonly<Record<Role, string>> = {
  owner: 'as owner: everything: applications, providers, keys, members',
  admin: 'as admin: applications, providers, keys and members',
  member: 'as member: reading only',
};

/** The page that asks for a user code. */
export function codePage(problem?: string): Page {
  return {
    title: 'Log in a terminal',
    body: html`<h1>Log in a terminal</h1>
${alert(problem)}
<form method="post" action="/cli">
<label for="userCode">The code that your terminal shows</label>
<input id="userCode" name="userCode" class="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" maxlength="32" placeholder="ABCD-EFGH" aria-describedby="warning" required autofocus>
<p id="warning" class="note">Type a code only if you started the login yourself. Nobody else needs your code.</p>
<button>Continue</button>
</form>`,
  };
}

/** The page that the link opens. */
export function linkPage(id: string): Page {
  return proofPage(
    'Approve',
    approvalPath(id),
    html`<p role="alert">This link has its proof after “#”, which only a script can read, and scripts are disabled here.</p>
<p>For a login, <a href="/cli">type the code</a> that your terminal shows instead. For anything else, allow scripts on this page and open the link again.</p>`,
    html`<p role="alert">This address is incomplete. Open the whole link from your terminal or AI client again.</p>
<p>For a login you can also <a href="/cli">type the code</a> that your terminal shows.</p>`,
  );
}

/** What the page repeats with every form. */
interface Shown extends SignInChoices {
  readonly details: HandoffDetails;
  readonly submissionToken: string;
  readonly problem?: string | undefined;
}

/** The request, its sender and the decision. */
export function approvalPage({ details, submissionToken, googleEnabled, registrationOpen, problem }: Shown): Page {
  const { operation, viewer } = details;
  const { id, kind } = operation;
  const needsPerson = kind === 'login' || kind === 'claim';
  const form = stepForms(approvalPath(id), submissionToken);
  const decision =
    needsPerson && viewer === null
      ? kind === 'claim'
        ? // Whoever claims an account may register whatever the deployment says.
          signInForms(form, { googleEnabled, registrationOpen: true, gain: ' and own this account' })
        : signInForms(form, { googleEnabled, registrationOpen })
      : html`${viewer === null ? null : viewerLine(form, viewer)}${approveForm(details, form)}`;
  return {
    title: TITLES[kind],
    body: html`<h1>${TITLES[kind]}</h1>
${alert(problem)}
${request(details)}
${decision}
${form('deny', html`<button>Deny</button>`)}
<p class="note">Denying changes nothing. This request expires at ${timeOf(operation.expiresAt)}.</p>`,
  };
}

/** The end of an approval; a terminal that listens gets the browser back. */
export function approvedPage({ message, continueTo, redirectUrl }: Approved): Page {
  const next =
    redirectUrl === null
      ? html`<p>You can close this page.</p>`
      : html`<p>The browser returns to your terminal now. <a href="${redirectUrl}" rel="noreferrer">Continue</a> if it does not.</p>`;
  return {
    title: 'Approved',
    ...(redirectUrl === null ? {} : { continueTo: redirectUrl }),
    body: html`<h1 data-ended>Approved</h1>
<p role="status">${message}</p>
${continueTo === 'console' ? html`<p><a href="/">Continue in the console</a></p>` : next}`,
  };
}

export function deniedPage(message: string): Page {
  return { title: 'Denied', body: html`<h1 data-ended>Denied</h1><p role="status">${message}</p>` };
}

function request({ operation, account, requester, snapshot, userCode }: HandoffDetails): Html {
  const { client, address, createdAt, payload, loopbackRedirect } = operation;
  const facts = [
    ['Asked in', operation.actionSource === 'mcp' ? `an ${ASKED_IN.mcp}` : null],
    ['Asked by', askedBy(client, requester)],
    ['System', client?.os ? othersWords(client.os) : null],
    ['Address', address],
    ['Asked at', timeOf(createdAt)],
    ['Code', userCode && html`<span class="code">${userCode}</span>`],
    ['Account', account && namedWithId(account.name, account.id)],
    ...Object.entries(payload ?? {}).map(([name, value]) => [`To set: ${name}`, othersWords(textOf(value))] as const),
    ...Object.entries(snapshot ?? {})
      .filter(([name]) => ['name', 'type', 'slug', 'baseUrl', 'secretHint'].includes(name))
      .map(([name, value]) => [`Now: ${name}`, value === null ? null : othersWords(textOf(value))] as const),
  ] as const;
  const compare =
    userCode === null
      ? null
      : html`<p>Compare the code with the one in your terminal. <strong>Deny it if they differ, or if you did not start this yourself.</strong></p>`;
  const listener =
    loopbackRedirect === null
      ? null
      : html`<p class="note">After the approval the browser is redirected to ${new URL(loopbackRedirect).host}, where the terminal on this machine listens.</p>`;
  return html`${description(facts)}${compare}${listener}`;
}

/** The requester, in its own unverified words. */
function askedBy(client: TerminalClient | null, requester: string | null): Html {
  if (client !== null)
    return html`“${othersWords(client.label)}” <span class="note">(its own label, not verified)</span>`;
  if (requester === null) return html`a deleted credential`;
  return html`“${othersWords(requester)}” <span class="note">(its name on the page Access, not verified)</span>`;
}

function approveForm(details: HandoffDetails, form: StepForm): Html | null {
  const { blockedBy, operation, memberships, wantsSecret } = details;
  if (blockedBy === 'no_eligible_organization') return NO_ACCOUNT;
  if (blockedBy === 'sign_out_required') {
    return html`<p role="alert">You already have another account; only a person without one can claim this one. Sign in as another person, or register.</p>`;
  }
  const secret = wantsSecret
    ? field('secret', 'The key or token of the provider', {
        type: 'password',
        autocomplete: 'off',
        minLength: 8,
        maxLength: 4096,
      })
    : null;
  const sure =
    operation.kind === 'login'
      ? 'I started this login, and my terminal shows the same code'
      : `I requested this in my ${ASKED_IN[operation.actionSource]}`;
  return form(
    'approve',
    html`${operation.kind === 'login' ? terminalAccount(memberships) : null}${secret}
${confirmation(sure)}`,
  );
}

/** The accounts to choose from, with what the terminal may do in each. */
function terminalAccount(memberships: HandoffDetails['memberships']): Html {
  return html`${accountChoice('Account for the terminal', memberships, POWERS)}
<p class="note">The terminal gets its own management key. It has your current role, does not expire, and can be revoked at any time on the page Access of the console.</p>`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
