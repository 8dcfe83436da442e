import type { Grant, Role } from '../../accounts/access/admin-principal.js';
import { accountChoice, confirmation, NO_ACCOUNT, proofPage } from '../../console/pages/approval-forms.js';
import { type Html, html } from '../../console/pages/html.js';
import { alert, description, othersWords, type Page, timeOf } from '../../console/pages/page.js';
import {
  type SignInChoices,
  type StepForm,
  signInForms,
  stepForms,
  viewerLine,
} from '../../console/pages/sign-in-forms.js';
import type { AuthorizationState } from '../authorizations/authorization.rules.js';
import { leadsToPage, redirectHost } from '../clients/redirect-uris.rules.js';
import type { ConsentDetails } from './consents.service.js';

const TITLE = 'Give a client access';
const SURE = 'I started this in my client, and I trust it';

const GRANT_TEXTS: Readonly<Record<Grant, string>> = {
  read: 'read only: applications, usage, providers without their keys',
  manage: 'read and write: also create, change and delete applications, providers and keys',
};

const ROLE_NOTES: Readonly<Record<Role, string>> = {
  owner: 'you are an owner',
  admin: 'you are an admin',
  member: 'you are a member, so it can only read',
};

const ENDED: Readonly<Record<Exclude<AuthorizationState, 'pending'>, string>> = {
  completed: 'The client has access. Return to it.',
  denied: 'The client was declined.',
  expired: 'The request expired after ten minutes. Start again in your client.',
  retired: 'The client’s access has ended. Start again in your client.',
};

/** The address of the consent page. */
export function consentPath(id: string): string {
  return `/oauth/consent?id=${id}`;
}

/** The page that the link opens. */
export function consentLinkPage(id: string): Page {
  return proofPage(
    TITLE,
    consentPath(id),
    html`<p role="alert">This address has its proof after “#”, which only a script can read, and scripts are disabled here. Allow scripts on this page and reload it.</p>`,
    html`<p role="alert">This address is incomplete. Start again in your client.</p>`,
  );
}

/** What the page repeats with every form. */
interface Shown extends SignInChoices {
  readonly details: ConsentDetails;
  readonly submissionToken: string;
  readonly problem?: string | undefined;
}

/** The request, its sender and the decision. */
export function consentPage({ details, submissionToken, googleEnabled, registrationOpen, problem }: Shown): Page {
  const { authorization, state, viewer, guestAvailable } = details;
  if (state !== 'pending') {
    return {
      title: TITLE,
      body: html`<h1 data-ended>${TITLE}</h1>${alert(problem)}<p role="status">${ENDED[state]}</p>`,
    };
  }
  const form = stepForms(consentPath(authorization.id), submissionToken);
  const decision =
    viewer === null
      ? signInForms(form, { googleEnabled, registrationOpen })
      : html`${viewerLine(form, viewer)}${allowForm(details, form)}`;
  return {
    title: TITLE,
    body: html`<h1>${TITLE}</h1>
${alert(problem)}
${request(details)}
${decision}
${guestAvailable ? guestForm(form) : null}
${form('deny', html`<button>Deny</button>`)}
<p class="note">Denying changes nothing here; the client is notified. This request expires at ${timeOf(authorization.expiresAt)}.</p>`,
  };
}

/** The end of a decision; the browser goes back to the client. */
export function decidedPage(title: 'Approved' | 'Denied', redirect: string): Page {
  return {
    title,
    continueTo: redirect,
    body: html`<h1 data-ended>${title}</h1>
<p role="status">The browser returns to the client now. <a href="${redirect}" rel="noreferrer">Continue</a> if it does not.</p>`,
  };
}

/** A row of the description. */
type Fact = readonly [name: string, value: string | Html];

function request({ authorization }: ConsentDetails): Html {
  const { client, redirectUri, address, createdAt, audience } = authorization;
  const facts: readonly Fact[] = [
    ['Client', html`“${othersWords(client.name)}” <span class="note">(its own label, not verified)</span>`],
    client.domain === null
      ? ['Known as', html`${client.id} <span class="note">(registered by the operator)</span>`]
      : ['Published by', html`<strong>${client.domain}</strong> <span class="note">(${client.id})</span>`],
    ['Returns to', destination(redirectUri)],
    ['Works with', audience === 'mcp' ? 'the MCP endpoint' : 'the MCP endpoint and the management API'],
    ['Address', address],
    ['Asked at', timeOf(createdAt)],
  ];
  return html`${description(facts)}
<p><strong>Allow it only if you just started this yourself, in this client.</strong></p>`;
}

/** A host is a page; a scheme is whatever application of the device has registered it. */
function destination(redirectUri: string): string | Html {
  const shown = redirectHost(redirectUri);
  if (leadsToPage(redirectUri)) return shown;
  return html`${shown}: <span class="note">(a scheme: the application on this device that has registered it)</span>`;
}

function allowForm({ blockedBy, memberships, authorization }: ConsentDetails, form: StepForm): Html {
  if (blockedBy !== null) return NO_ACCOUNT;
  const grants: readonly Grant[] = authorization.requestedGrant === 'manage' ? ['manage', 'read'] : ['read'];
  return form(
    'allow',
    html`${accountChoice('Account for the client', memberships, ROLE_NOTES)}
<fieldset><legend>What the client may do there</legend>
${grants.map(
  (grant) =>
    html`<label><input type="radio" name="grant" value="${grant}" required${
      grants.length === 1 ? html` checked` : null
    }> ${GRANT_TEXTS[grant]}</label>`,
)}
</fieldset>
<p class="note">The client gets its own connection. It has your current role, expires 30 days after its last use, and can be revoked at any time on the page Access of the console.</p>
${confirmation(SURE)}`,
  );
}

function guestForm(form: StepForm): Html {
  return html`<details><summary>Continue without an account</summary>
<p>This deployment is empty. The client can open its first account and manage it until a person claims it.</p>
${form('guest', confirmation(SURE, 'Continue without an account'))}
</details>`;
}
