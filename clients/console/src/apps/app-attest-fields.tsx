import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Checkbox, TextField } from '../design/field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';

type AppAttest = Schemas['AppAttest'];

export const emptyAppAttest = (): AppAttest => ({ team_id: '', bundle_id: '', environments: ['production'] });

/** @param path where the server names it in errors. */
export function AppAttestFields({
  attest,
  onChange,
  path,
}: {
  readonly attest: AppAttest;
  readonly onChange: (members: Partial<AppAttest>) => void;
  readonly path: string;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { environments = ['production'] } = attest;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Team ID"
        value={attest.team_id}
        onChange={(team_id) => onChange({ team_id })}
        reason={reason}
        error={problemAt(error, `${path}.team_id`)}
      />
      <TextField
        label="Bundle ID"
        value={attest.bundle_id}
        onChange={(bundle_id) => onChange({ bundle_id })}
        reason={reason}
        error={problemAt(error, `${path}.bundle_id`)}
      />
      <Checkbox
        label="Accept development builds"
        hint="For apps that run from Xcode. Turn it off before you ship."
        checked={environments.includes('development')}
        onChange={(isOn) => onChange({ environments: isOn ? ['production', 'development'] : ['production'] })}
        reason={reason}
      />
    </div>
  );
}
