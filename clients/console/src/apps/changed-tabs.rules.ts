import type { AppTab } from './app-tabs';
import { type Draft, isSame, type Json } from './draft-merge.rules';

type Member = (draft: Draft) => unknown;

/** What each part of the page edits. */
const EDITED: Partial<Readonly<Record<AppTab, readonly Member[]>>> = {
  auth: [({ config }) => config.authentication, ({ config }) => config.allowed_origins],
  proxy: [({ config }) => config.routing],
  endpoints: [({ config }) => config.endpoints, ({ config }) => config.streams],
  limits: [({ config }) => config.limits],
  settings: [({ name }) => name, ({ status }) => status],
};

/** The parts of the page in which a draft differs from what is stored. */
export function changedTabs(base: Draft, draft: Draft): readonly AppTab[] {
  const tabs = Object.entries(EDITED) as [AppTab, readonly Member[]][];
  return tabs
    .filter(([, members]) => members.some((member) => !isSame(member(base) as Json, member(draft) as Json)))
    .map(([tab]) => tab);
}
