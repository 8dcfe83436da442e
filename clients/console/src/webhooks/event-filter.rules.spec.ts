import { describe, expect, it } from '@jest/globals';
import { groupsOf, withGroup, withType } from './event-filter.rules';

const typeOf = (type: string) => ({ type, means: `${type} happened.` });
const GROUPS = groupsOf(['app.created', 'app.deleted', 'app_key.created'].map(typeOf));
const APP = { prefix: 'app.*', subject: 'app', types: ['app.created', 'app.deleted'].map(typeOf) };

describe('the events of a webhook', () => {
  it('types → grouped by subject; a subject whose name starts with another subject’s stays separate', () => {
    expect(GROUPS).toEqual([APP, { prefix: 'app_key.*', subject: 'app_key', types: [typeOf('app_key.created')] }]);
  });

  it.each([
    ['chosen', ['member.joined', 'app.created'], true, ['member.joined', 'app.*']],
    ['chosen twice', ['app.*'], true, ['app.*']],
    ['no longer chosen', ['app.*', 'member.joined'], false, ['member.joined']],
  ])('a group that is %s → its prefix replaces its types', (_case, filter, isChosen, expected) => {
    expect(withGroup(filter, APP, isChosen)).toEqual(expected);
  });

  it.each([
    ['chosen', ['app.created'], true, ['app.created', 'app.deleted']],
    ['chosen twice', ['app.deleted'], true, ['app.deleted']],
    ['no longer chosen', ['app.created', 'app.deleted'], false, ['app.created']],
  ])('a type that is %s → in the filter exactly once, or absent', (_case, filter, isChosen, expected) => {
    expect(withType(filter, 'app.deleted', isChosen)).toEqual(expected);
  });
});
