import { tableRow } from './markdown.rules.js';

type Catalogue = Readonly<Record<string, { readonly status: number; readonly message: string }>>;

/** Renders `docs/errors.md`, ordered by status and code. */
export function renderErrors(catalogue: Catalogue, unavailable: Readonly<Record<string, string>>): string {
  const rows = Object.entries(catalogue)
    .sort(([codeA, a], [codeB, b]) => a.status - b.status || codeA.localeCompare(codeB))
    .map(([code, { status, message }]) => tableRow([`${status}`, `\`${code}\``, message]));
  const reasons = Object.entries(unavailable).map(([reason, meaning]) => tableRow([`\`${reason}\``, meaning]));
  return `# Errors

Every refusal has the body \`{"error": {"code", "message", "data"?}}\`. Codes are a closed list and stable: decide on the
code, never on the message. \`data\` holds only text, numbers and booleans. A few codes answer another status on some
routes; \`docs/openapi.json\` says which. Answers with 429 and 503 carry \`Retry-After\` in seconds, but for
\`issuer_verification_unavailable\`.

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Status', 'Code', 'Usual message']), tableRow(['---', '---', '---']), ...rows].join('\n')}

## Reasons of 503

The \`gateway_error\` line of a 503 has one of these as its \`reason\`. Those of \`readyz\` are in
[operations](operations.md#health). A target of an endpoint may answer 503 itself; its answer is forwarded.

${[tableRow(['Reason', 'Means']), tableRow(['---', '---']), ...reasons].join('\n')}
`;
}
