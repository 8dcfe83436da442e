import type { Action } from '../program/command.js';
import { counted } from '../terminal/words.rules.js';
import { type Directory, environmentsOf, type Readable, readDirectory } from './directory.js';
import { appProblems, providerProblems } from './file-schema.rules.js';
import { invalid, Problems } from './problems.js';

/** `gw validate` */
export const validate: Action = async (gw) => {
  const path = gw.optionalArgument(0) ?? '.';
  const named = gw.text('env');
  const environments = named === undefined ? environmentsOf(path) : [named];
  const problems = new Problems();
  const directories = (environments.length === 0 ? [undefined] : environments).flatMap((environment) => {
    return problems.collect(() => readDirectory(path, environment, addProblems)) ?? [];
  });
  problems.throwIfAny();
  const most = (count: (directory: Directory) => number) => Math.max(...directories.map(count));
  const result = {
    ...{ environments, apps: most(({ apps }) => apps.length) },
    providers: most(({ providers }) => providers?.length ?? 0),
  };
  const what = `${counted(result.apps, 'application')} and ${counted(result.providers, 'provider')}`;
  const where = environments.length === 0 ? '' : ` in ${environments.join(', ')}`;
  return { result, text: `Valid: ${what}${where}.\nWhether the gateway accepts them: gw plan ${path}` };
};

function addProblems({ apps, providers }: Readable, problems: Problems): void {
  for (const { at, desired } of apps) {
    for (const { path, problem } of appProblems(desired)) problems.add(invalid(at(path), problem));
  }
  for (const { at, desired } of providers) {
    for (const { path, problem } of providerProblems(desired)) problems.add(invalid(at(path), problem));
  }
}
