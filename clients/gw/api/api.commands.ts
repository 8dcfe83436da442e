import { type Command, members } from '../program/command.js';

/** The command for what has no command. */
export const apiCommands: readonly Command[] = [
  {
    name: 'api',
    summary: 'Send a request to the API of the gateway, and print its answer',
    details:
      'For what no other command does: docs/openapi.json has every path. Only paths of the gateway are accepted, and no redirect is followed. A repeated POST gets the answer of an earlier one whose answer was lost, where the API knows that. Answers are printed as they are: keys that a creation returns included.',
    arguments: [
      ['<method>', 'of HTTP', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
      ['<path>', 'with its query, percent-encoded: /v1/admin/apps?limit=10'],
    ],
    options: [
      ['--data <json>', 'body: JSON, a file of it as @file, or - for standard input'],
      ['--paginate', 'of a list, all pages in one answer'],
    ],
    examples: [
      'gw api GET /v1/admin/session',
      'gw api GET "/v1/admin/audit-events?action=app.created" --paginate --json',
      'gw api POST /v1/admin/apps/validate --data @app.json',
      'echo \'{"name": "Notes"}\' | gw api PATCH "/v1/admin/organizations/$ACCOUNT" --data -',
    ],
    result: members({ status: { type: 'integer' }, body: {} }),
    load: async () => (await import('./raw.js')).request,
  },
];
