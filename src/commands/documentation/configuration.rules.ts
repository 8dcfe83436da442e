import type { declaredSettings } from '../../platform/config/setting.js';
import type { VAULT_VARIABLES } from '../../platform/vault/vault-variables.js';
import { tableRow } from './markdown.rules.js';

/** The documentation of one environment variable. */
export interface DocumentedVariable {
  readonly name: string;
  readonly description: string;
  /** Markdown for the default. */
  readonly defaultText: string;
  /** The value in an example file; empty without a plain value. */
  readonly exampleValue: string;
}

const MAX_COMMENT_CHARACTERS = 100;

/** The documentation of a setting. */
export function toDocumentedSetting(setting: ReturnType<typeof declaredSettings>[number]): DocumentedVariable {
  const { name, description, fallback, fallbackText } = setting;
  const plain = ['string', 'number', 'boolean'].includes(typeof fallback) ? String(fallback) : '';
  return {
    name,
    description,
    defaultText: fallbackText ?? (plain === '' ? 'unset' : `\`${plain}\``),
    exampleValue: plain,
  };
}

/** The documentation of a vault variable; an example file gives it no value. */
export function toDocumentedVaultVariable(variable: (typeof VAULT_VARIABLES)[number]): DocumentedVariable {
  const { name, description, fallbackText } = variable;
  return { name, description, defaultText: fallbackText, exampleValue: '' };
}

/** Renders `docs/configuration.md`. */
export function renderConfiguration(variables: readonly DocumentedVariable[]): string {
  const rows = variables.map(({ name, defaultText, description }) =>
    tableRow([`\`${name}\``, defaultText, description]),
  );
  return `# Configuration

Every environment variable the service reads. An empty value counts as unset. An invalid value stops the start with a
message that names the variable and never the value; the \`SECRET_VAULT_*\` variables instead leave the service running
with \`vault: "misconfigured"\`.

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Variable', 'Default', 'Meaning']), tableRow(['---', '---', '---']), ...rows].join('\n')}
`;
}

/** Renders `.env.example`: every variable, commented out, with its default. */
export function renderEnvironmentExample(variables: readonly DocumentedVariable[]): string {
  const entries = variables.map(({ name, description, exampleValue }) =>
    [...wrapped(description).map((line) => `# ${line}`), `# ${name}=${exampleValue}`].join('\n'),
  );
  return `# Every setting with its default. Written by \`npm run docs\`; docs/configuration.md says more.\n\n${entries.join('\n\n')}\n`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.replaceAll('`', '').split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= MAX_COMMENT_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
