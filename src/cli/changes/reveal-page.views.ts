import { type Html, html } from '../../console/pages/html.js';
import { alert, description, namedWithId, othersWords, type Page, timeOf } from '../../console/pages/page.js';
import { ownSignInForms, type StepForm, stepForms, viewerLine } from '../../console/pages/sign-in-forms.js';
import type { Viewer } from '../../sign-in/approvals/approvals.service.js';
import { revealPath } from '../operations/operation.rules.js';
import { keyFactsOf } from './change-operation.rules.js';
import type { RevealedOperation } from './change-operations.service.js';
import type { KeyPreview } from './key-reveals.service.js';

const TITLE = 'Reveal a new application key';
const ANOTHER = 'If you still need a key, issue a new one, and revoke this one under the keys of the application.';

/** What every state of the page shows. */
interface Shown {
  readonly id: string;
  readonly problem?: string | undefined;
}

/** Nobody is signed in: nothing about the operation is shown. */
export function revealSignInPage({ id, problem, googleEnabled }: Shown & { readonly googleEnabled: boolean }): Page {
  return {
    title: TITLE,
    body: html`<h1>${TITLE}</h1>
${alert(problem)}
<p>An owner or admin of the account can reveal the key here, once. Sign in first.</p>
${ownSignInForms(stepForms(revealPath(id)), { googleEnabled })}`,
  };
}

/** The viewer may not see the key; people outside its account do not learn whether the operation exists. */
export function refusedRevealPage({ id, problem, viewer }: Shown & { readonly viewer: Viewer }): Page {
  return {
    title: TITLE,
    body: html`<h1>${TITLE}</h1>
${alert(problem)}
${viewerLine(stepForms(revealPath(id)), viewer)}
<p class="note">Open the whole link that your AI client gave you, signed in to the account that it manages.</p>`,
  };
}

/** Which key of which application, by whom, and the button that shows it. */
export function revealPage({ preview, viewer, problem }: KeyShown): Page {
  const { id } = preview.operation;
  const form = stepForms(revealPath(id));
  return {
    title: TITLE,
    body: html`<h1>${TITLE}</h1>
${alert(problem)}
${facts(preview)}
${viewerLine(form, viewer)}
${decision(preview, form)}`,
  };
}

interface KeyShown {
  readonly preview: KeyPreview;
  readonly viewer: Viewer;
  readonly problem?: string | undefined;
}

/** The key. */
export function revealedPage({ result }: RevealedOperation): Page {
  const { name = '', appId = '', appName, key = '' } = keyFactsOf(result) ?? {};
  return {
    title: 'Your new application key',
    body: html`<h1>Your new application key</h1>
<p role="alert" class="alert">It is shown only once. Copy it before you leave or reload this page.</p>
<label for="key">Key “${othersWords(name)}” of ${othersWords(appName ?? appId)}</label>
<input id="key" class="code" value="${key}" readonly autocomplete="off" autocapitalize="off" spellcheck="false" autofocus aria-describedby="next">
<div id="next">
<h2>What to do next</h2>
<ol>
<li>Store the key in the secret store of the backend that calls ${appId}.</li>
<li>The backend sends it as <code>Authorization: Bearer</code> with every call.</li>
<li>Do not paste it into a conversation with an AI client. If that happens, revoke the key.</li>
</ol>
</div>
<p><a href="/">Continue in the console</a></p>`,
  };
}

function facts({ operation, account, requester }: KeyPreview): Html {
  const key = keyFactsOf(operation.result);
  return description([
    ['Key', key ? html`${othersWords(key.name)} (${key.prefix}…)` : null],
    ['Application', key ? named(key.appName, key.appId) : null],
    ['Account', namedWithId(account.name, account.id)],
    [
      'Asked for by',
      requester === null
        ? null
        : html`“${othersWords(requester)}” <span class="note">(its name on the page Access, not verified)</span>`,
    ],
    ['Address', operation.address],
    ['Asked at', timeOf(operation.createdAt)],
    ['Expires', operation.sealedUntil === null ? null : timeOf(operation.sealedUntil)],
  ]);
}

function decision({ key, operation }: KeyPreview, form: StepForm): Html {
  if (key === 'held') {
    return html`<p>The key is shown once. Prepare the place where you will store it.</p>
${form('reveal', html`<button>Show the key</button>`)}`;
  }
  if (key === 'revealed') {
    const at = operation.deliveredAt === null ? null : html` at ${timeOf(operation.deliveredAt)}`;
    return html`<p role="alert" class="alert">The key was already shown${at}; it is shown only once. ${ANOTHER} If it was not you, revoke it now.</p>`;
  }
  if (key === 'lapsed') {
    return html`<p role="alert" class="alert">The key has expired and can no longer be shown. ${ANOTHER}</p>`;
  }
  return html`<p role="alert" class="alert">This operation has no key to show here.</p>`;
}

function named(name: string | undefined, id: string): string | Html {
  return name === undefined ? id : namedWithId(name, id);
}
