import {
  ENTITLEMENT_PRESETS,
  IDENTITY_PRESETS,
  issuerOfPreset,
} from '../../app-directory/config/identity-presets.rules.js';

/** Renders `docs/identity-providers.md` from the presets of the console and the OpenAPI document. */
export function renderIdentityProviders(): string {
  return [
    '# Identity providers',
    '',
    'Settings for `authentication.end_user.issuer` of an application, by identity provider. Written by `npm run docs`; the',
    'same data is `x-identity-presets` of the schema `AppIssuer` in the API’s description.',
    '',
    ...IDENTITY_PRESETS.flatMap((preset) => [
      `## ${preset.label}`,
      '',
      ...preset.fields.map(({ label, example }) => `- ${label}, such as \`${example}\``),
      '',
      '```json',
      JSON.stringify(issuerOfPreset(preset), null, 2),
      '```',
      '',
      ...preset.notes.flatMap((note) => [note, '']),
    ]),
    '## Subscriptions',
    '',
    'A required claim lets in only users whose token proves a subscription. It is checked when a device registers and when',
    'a token is exchanged, so a lapsed subscription works until the gateway token ends, an hour at most.',
    '',
    ...ENTITLEMENT_PRESETS.filter(({ path }) => path !== '').flatMap(({ id, label, path, notes }) => [
      `**${label}**`,
      '',
      '```json',
      JSON.stringify({ entitlement: id, required_claims: [{ path, contains: ['pro'] }] }, null, 2),
      '```',
      '',
      ...notes.flatMap((note) => [note, '']),
    ]),
    '`contains` takes one text or several, of which one must be in the claim: an element of a list, a word of a text, or the',
    'whole text. `equals` takes a text, a number or a boolean. `path` walks into objects: `plan.name`. Where names hold dots,',
    'as those that are URLs do, it is a list of names: `["https://example.com/claims", "plan"]`. So is `user_id_claim`.',
    '',
  ].join('\n');
}
