import { type Html, html } from './html.js';
import { field, othersWords, type Page } from './page.js';

const EMAIL = { type: 'email', autocomplete: 'username', maxLength: 254 } as const;
const MIN_PASSWORD = 8;
const MAX_PASSWORD = 128;

/** What a page offers to people who are not signed in. */
export interface SignInChoices {
  readonly googleEnabled: boolean;
  readonly registrationOpen: boolean;
}

/** A form that runs a step of the page with the content's fields. */
export type StepForm = (step: string, content: Html) => Html;

/**
 * The forms of a page.
 *
 * @param submissionToken the proof that opened the page, which every form repeats; absent where none did.
 */
export function stepForms(action: string, submissionToken?: string): StepForm {
  const proof =
    submissionToken === undefined
      ? null
      : html`<input type="hidden" name="submissionToken" value="${submissionToken}">`;
  return (step, content) => html`<form method="post" action="${action}">
${proof}
<input type="hidden" name="step" value="${step}">
${content}
</form>`;
}

/** Who is signed in, and how to change that. */
export function viewerLine(
  form: StepForm,
  { name, email }: { readonly name: string | null; readonly email: string },
): Html {
  return html`<p>You are signed in as <strong>${othersWords(name ?? email)}</strong> (${email}).</p>${form('sign-out', html`<button>Use another account</button>`)}`;
}

/**
 * Signing in by password or by a third party, and registering, where that is open.
 *
 * @param gain what else registering brings, such as ` and own this account`.
 */
export function signInForms(
  form: StepForm,
  { googleEnabled, registrationOpen, gain = '' }: SignInChoices & { readonly gain?: string },
): Html {
  return html`<h2>Sign in to decide</h2>
${ownSignInForms(form, { googleEnabled })}
${registrationOpen ? registrationForm(form, gain) : html`<p class="note">Registration is closed. Without an account, ask an owner for an invitation.</p>`}`;
}

/** Signing in by password or by a third party, for those who have an account. */
export function ownSignInForms(form: StepForm, { googleEnabled }: { readonly googleEnabled: boolean }): Html {
  const password = { type: 'password', maxLength: MAX_PASSWORD } as const;
  return html`${form(
    'sign-in',
    html`${field('email', 'E-mail', EMAIL)}
${field('password', 'Password', { ...password, autocomplete: 'current-password' })}
<button>Sign in</button>`,
  )}
${googleEnabled ? form('google', html`<button>Sign in with Google</button>`) : null}`;
}

function registrationForm(form: StepForm, gain: string): Html {
  return html`<details><summary>Register instead${gain}</summary>
${form(
  'register',
  html`<label for="name">Name</label>
<input id="name" name="name" autocomplete="name" maxlength="100" required>
<label for="newEmail">E-mail</label>
<input id="newEmail" name="email" type="email" autocomplete="email" maxlength="254" required>
<label for="newPassword">Password, at least ${MIN_PASSWORD} characters</label>
<input id="newPassword" name="password" type="password" autocomplete="new-password" minlength="${MIN_PASSWORD}" maxlength="${MAX_PASSWORD}" required>
<button>Register</button>`,
)}
</details>`;
}

/** Sends the browser to the third party, and shows a link for browsers that do not follow the redirect. */
export function leavingPage(url: string): Page {
  return {
    title: 'Sign in with Google',
    continueTo: url,
    body: html`<h1>Sign in with Google</h1><p><a href="${url}" rel="noreferrer">Continue at Google</a></p>`,
  };
}
