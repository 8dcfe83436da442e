import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Checkbox, Problem, SelectField, TextField } from '../design/field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { ListField } from './list-field';

type PlayIntegrity = Schemas['AppPlayIntegrity'];

export const EMPTY_PLAY_INTEGRITY: PlayIntegrity = {
  ...{ package_name: '', require: ['MEETS_DEVICE_INTEGRITY'], decode: 'vendor', mode: 'enforce' },
  ...{ allow_unrecognized: false, allow_unlicensed: false, allow_testing: false },
};

const PATH = 'config.authentication.proofs.play_integrity';
const VERDICTS: PlayIntegrity['require'] = [
  'MEETS_BASIC_INTEGRITY',
  'MEETS_DEVICE_INTEGRITY',
  'MEETS_STRONG_INTEGRITY',
  'MEETS_VIRTUAL_INTEGRITY',
];
const DECODINGS = [
  { value: 'vendor', label: 'Google, asked once per registration' },
  { value: 'local', label: 'The gateway, for classic requests' },
] as const;
const ALLOWANCES = [
  ['allow_unrecognized', 'Accept copies that Google Play does not recognize'],
  ['allow_unlicensed', 'Accept users who did not get the app from Google Play'],
  ['allow_testing', 'Accept verdicts chosen in Play Console'],
] as const;

/** The policy for Play Integrity tokens. */
export function PlayIntegrityFields({
  play,
  onChange,
}: {
  readonly play: PlayIntegrity;
  readonly onChange: (play: PlayIntegrity) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const set = (members: Partial<PlayIntegrity>) => onChange({ ...play, ...members });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Package"
        value={play.package_name}
        onChange={(package_name) => set({ package_name })}
        reason={reason}
        error={problemAt(error, `${PATH}.package_name`)}
      />
      <SelectField
        label="Tokens are decoded by"
        value={play.decode}
        options={DECODINGS}
        onChange={(decode) => set({ decode })}
        reason={reason}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">Device verdicts, all required</legend>
        {VERDICTS.map((verdict) => (
          <Checkbox
            key={verdict}
            label={verdict}
            checked={play.require.includes(verdict)}
            onChange={() =>
              set({ require: VERDICTS.filter((one) => play.require.includes(one) !== (one === verdict)) })
            }
            reason={reason}
          />
        ))}
        <Problem text={problemAt(error, `${PATH}.require`)} />
      </fieldset>
      <ListField
        label="Certificates"
        hint="SHA-256 of the certificates that sign the app, one per line. Empty: any."
        entries={play.certificates ?? []}
        onChange={(hashes) => set({ certificates: hashes.length > 0 ? hashes : undefined })}
        error={problemAt(error, `${PATH}.certificates`)}
      />
      {ALLOWANCES.map(([member, label]) => (
        <Checkbox
          key={member}
          label={label}
          checked={play[member] ?? false}
          onChange={(isOn) => set({ [member]: isOn })}
          reason={reason}
        />
      ))}
    </div>
  );
}
