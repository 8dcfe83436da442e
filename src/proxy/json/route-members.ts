import type { ProviderRoute, RouteMembers } from '../../upstreams/routes/provider-route.js';
import { compileMembers, type MergeMembers } from './json-merge-members.rules.js';

/** Compiled once per instance and version of it. */
const compiled = new WeakMap<RouteMembers, MergeMembers>();
const NO_MEMBERS = compileMembers({});

/** What the way to a provider merges over every JSON body; mostly nothing. Source: contract-app 6.12, "Body rewrite". */
export function routeMembers({ bodyMembers }: ProviderRoute): MergeMembers {
  if (bodyMembers === null) return NO_MEMBERS;
  let members = compiled.get(bodyMembers);
  if (members === undefined) {
    members = compileMembers(bodyMembers);
    compiled.set(bodyMembers, members);
  }
  return members;
}
