import { type Command, members } from '../program/command.js';

/** The command for requests without a command. */
export const apiCommands: readonly Command[] = [
  {
    name: 'api',
    summary: 'Send a request to the API of the gateway and print the response',
    details:
      'For operations without a command of their own: docs/openapi.json lists every path. Only paths of the gateway ' +
      'are accepted, and redirects are not followed. If the response to a POST was lost, repeating it returns that ' +
      'response, where the API supports this. Responses are printed unchanged, including newly created keys.',
    arguments: [
      ['<method>', 'of HTTP', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
      ['<path>', 'with its query, percent-encoded: /v1/admin/apps?limit=10'],
    ],
    options: [
      ['--data <json>', 'body: JSON, a file of it as @file, or - for standard input'],
      ['--paginate', 'all pages of a list in one response'],
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
