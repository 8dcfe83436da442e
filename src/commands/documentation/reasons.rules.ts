import { tableRow } from './markdown.rules.js';

type Reasons = Readonly<Record<string, { readonly means: string; readonly advice: string }>>;

/** Renders `docs/reasons.md`, ordered by reason. */
export function renderReasons(reasons: Reasons): string {
  const rows = Object.entries(reasons)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([reason, { means, advice }]) => tableRow([`\`${reason}\``, means, advice]));
  return `# Reasons

\`reason\` of the log line \`gateway_error\` and of authentication events says why a request was refused. Clients do not get
it. Beside these there are \`provider_\` with the lower-case error code of the system, such as \`provider_econnrefused\` (look
at the provider, its address and the network), and the reasons of extensions.

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Reason', 'Means', 'What to do']), tableRow(['---', '---', '---']), ...rows].join('\n')}
`;
}
