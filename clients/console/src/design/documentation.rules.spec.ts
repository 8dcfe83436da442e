import { describe, expect, it } from '@jest/globals';
import { errorHelpOf, helpOf } from './documentation.rules.js';

describe('helpOf', () => {
  it.each([
    ['/apps', 'How an application works'],
    ['/apps/new', 'How an application works'],
    ['/apps/new-journal/limits', 'What happens at a limit'],
    ['/apps/some-app/overview', 'How an application works'],
    ['/apps/server-app/auth', 'Users and sign-ins'],
    ['/apps/some-app/auth-events', 'Why a sign-in fails'],
    ['/providers/gateways', 'How an upstream gateway works'],
    ['/providers/nothing/more', 'How a provider is set up'],
  ])('%s → %s', (path, title) => expect(helpOf(path)?.title).toBe(title));

  it.each(['/', '', '/settings/profile', '/nothing'])('%s → none', (path) => expect(helpOf(path)).toBeUndefined());
});

describe('errorHelpOf', () => {
  it('a code of the API → its place in the documentation', () => {
    expect(errorHelpOf('app_not_found')).toBe('/docs/errors#app_not_found');
  });

  it.each(['offline', 'http_502', '', 'javascript:alert(1)', '"><b>', '../x'])('%s → none', (code) => {
    expect(errorHelpOf(code)).toBeUndefined();
  });
});
