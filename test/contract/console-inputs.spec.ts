import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../clients/console/src/', import.meta.url);
const FIELD = /<(TextField|TextArea|ListField)\b[^<]*?label=(?:"([^"]*)"|\{([^}]*)\})/gs;
/** These wrap a text field for others. */
const WRAPPERS = new Set(['design/number-field.tsx', 'design/name-form.tsx', 'design/suggest-field.tsx']);

/** Free text of people; where the gateway knows the valid values, the field is a choice or offers a list. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  'a name that a person gives': [
    ...['Name', 'Key name', 'Application name', 'Organization name', 'Endpoint name', 'Name of a new passkey'],
    ...['Slug', 'Your name', 'New group type'],
  ],
  'a secret': [
    ...['Token', 'New token', 'Provider key', 'New provider key', 'Bootstrap key', 'Password', 'Current password'],
    ...[
      'New password',
      'Recovery code',
      'Test token',
      'New credentials',
      "isServer ? 'Application key' : 'Gateway token'",
    ],
  ],
  'a day or a month of a calendar': ['Month (UTC)', 'First day', 'Last day', 'Expires', 'Prices of the day (UTC)'],
  'a search': ['Search models', 'Search applications', 'Search users', 'Add a model', 'Add an application'],
  'of another system, which the gateway cannot list': [
    ...['Account ID', 'Gateway ID', 'Team ID', 'Bundle ID', 'Base URL', 'URL', 'JWKS URL', 'Issuer (iss)'],
    ...[
      'Packages',
      'Package',
      'Signing certificates',
      'Certificates',
      'Minimum version of the app',
      'Lowest bundle version',
    ],
    ...['Audience (aud)', 'Allowed origins', 'Header', 'E-mail', 'E-mail (optional)', 'label'],
    ...['`Value of claim ${index + 1', '`User (${header', 'Parameters (JSON)'],
    'isOfClaim ? `Claim that names the ${name',
  ],
  'numbers that a person chooses': ['Report at (percent of each budget)'],
  'a word of clients': ['Requested model', 'Message'],
  'typed to confirm': ['`Type “${phrase'],
  'models and prices of one’s own': ['Custom prices (JSON)'],
};

const fields = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx') && !WRAPPERS.has(name))
  .flatMap((name) =>
    [...readFileSync(new URL(name, ROOT), 'utf8').matchAll(FIELD)].map(([, , text, code = '']) => text ?? code),
  );

describe('text fields of the console', () => {
  it('each has a reason to be free text: values from a closed list are chosen, not typed', () => {
    const free = Object.values(FREE).flat();
    expect(fields.length).toBeGreaterThan(40);
    expect([...new Set(fields)].filter((label) => !free.includes(label))).toEqual([]);
    expect(free.filter((label) => !fields.includes(label))).toEqual([]);
  });
});
