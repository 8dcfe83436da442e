import { type Html, html } from './html.js';
import { namedWithId, type Page } from './page.js';

/** An account of the viewer. */
interface EligibleAccount<Role> {
  readonly organization: { readonly id: string; readonly name: string };
  readonly role: Role;
}

export const NO_ACCOUNT = html`<p role="alert">You have no account. Ask for an invitation, or sign in as another person.</p>`;

/**
 * The page that a link opens: the script takes the proof out of the address and sends it.
 *
 * @param action the address of the page that takes the proof.
 * @param withoutScript shown where scripts are disabled.
 * @param withoutProof shown where the address has no proof.
 */
export function proofPage(title: string, action: string, withoutScript: Html, withoutProof: Html): Page {
  return {
    title,
    body: html`<h1>${title}</h1>
<form method="post" action="${action}" data-proof>
<input type="hidden" name="submissionToken">
</form>
<div data-without-script>
${withoutScript}
</div>
<div data-without-proof hidden>
${withoutProof}
</div>`,
  };
}

/** The choice of an account, with a note on the role in each. */
export function accountChoice<Role extends string>(
  legend: string,
  accounts: readonly EligibleAccount<Role>[],
  notes: Readonly<Record<Role, string>>,
): Html {
  const only = accounts.length === 1 ? html` checked` : null;
  return html`<fieldset><legend>${legend}</legend>
${accounts.map(
  ({
    organization: { id, name },
    role,
  }) => html`<label><input type="radio" name="organizationId" value="${id}" required${only}> ${namedWithId(name, id)}
<span class="note">— ${notes[role]}</span></label>`,
)}
</fieldset>`;
}

/** The confirmation without which nothing is approved, and the button. */
export function confirmation(sure: string, button = 'Approve'): Html {
  return html`<label><input type="checkbox" name="sure" value="yes" required> ${sure}</label>
<button>${button}</button>`;
}
