import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Button, ButtonLink } from '../design/button';
import { Checkbox, SelectField, TextField } from '../design/field';
import { Card } from '../design/layout';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { AppAttestFields, emptyAppAttest } from './app-attest-fields';
import { DraftForm, useAppDraft } from './app-draft';
import { ListField } from './list-field';
import { EMPTY_PLAY_INTEGRITY, PlayIntegrityFields } from './play-integrity-fields';
import { looserProofs, MODES, PROOF_LABELS } from './proof-modes.rules';

type Authentication = Schemas['AppDeviceProofsAuthentication'];
type Proofs = Authentication['proofs'];
type ProofAppAttest = Schemas['AppProofAppAttest'];
type KeyAttestation = Schemas['AppKeyAttestation'];

/** How an app was installed. */
const CATEGORIES = [
  { category: 4, label: 'App Store', hint: 'Only apps from there. None chosen: any.' },
  { category: 2, label: 'TestFlight', hint: 'Apps from there.' },
  { category: 5, label: 'Enterprise or ad hoc', hint: 'Apps that you distribute yourself.' },
  { category: 6, label: 'Developer ID', hint: 'Apps for Macs outside the store.' },
] as const;

const EMPTY_KEY_ATTESTATION: KeyAttestation = {
  package_names: [],
  signing_certificates: [],
  min_security_level: 'tee',
  provisioning: 'any',
  verified_boot: true,
  mode: 'enforce',
};

const ADDABLE: readonly (readonly [keyof Proofs, () => Proofs])[] = [
  ['app_attest', () => ({ app_attest: { ...emptyAppAttest(), mode: 'enforce', framework_client: false } })],
  ['key_attestation', () => ({ key_attestation: EMPTY_KEY_ATTESTATION })],
  ['play_integrity', () => ({ play_integrity: EMPTY_PLAY_INTEGRITY })],
];

const PATH = 'config.authentication.proofs';

/** The proofs of an application of several platforms. */
export function ProofsCard() {
  const { id, draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { authentication } = draft.config;
  if (authentication.type !== 'device_proofs') return null;
  const { proofs, end_user: endUser, min_app_version: minimum } = authentication;
  const { app_attest: apple, key_attestation: android, play_integrity: play } = proofs;
  const change = (members: Partial<Authentication>) =>
    changeConfig({ authentication: { ...authentication, ...members } });
  const set = (members: Proofs) => change({ proofs: { ...proofs, ...members } });
  const remove = (name: keyof Proofs) =>
    change({ proofs: Object.fromEntries(Object.entries(proofs).filter(([other]) => other !== name)) });
  const warnings = looserProofs(proofs);
  return (
    <Card
      title="Devices"
      lead="The proofs that devices use. A device chooses its proof."
      actions={
        <ButtonLink to={`/apps/${id}/auth-events`} size="sm">
          Preview enforcement
        </ButtonLink>
      }
    >
      <DraftForm className="flex flex-col gap-8">
        {warnings.length > 0 && (
          <p role="status" className="text-sm font-medium text-warn">
            {`${warnings.join(' and ')} is looser than another proof: the application is as strict as its loosest one.`}
          </p>
        )}
        {apple !== undefined && (
          <Proof
            name={PROOF_LABELS.app_attest}
            mode={apple.mode}
            onMode={(mode) => set({ app_attest: { ...apple, mode } })}
            onRemove={() => remove('app_attest')}
          >
            <AppAttestFields
              attest={apple}
              onChange={(members) => set({ app_attest: { ...apple, ...members } })}
              path={`${PATH}.app_attest`}
            />
            <SignalFields apple={apple} onChange={(app_attest) => set({ app_attest })} />
            {endUser.source === 'app_install' && (
              <Checkbox
                label="Serve Apple’s language-model framework"
                hint="Its client signs in by itself at the address of a provider of the Messages API."
                checked={apple.framework_client ?? false}
                onChange={(framework_client) => set({ app_attest: { ...apple, framework_client } })}
                reason={reason}
              />
            )}
          </Proof>
        )}
        {android !== undefined && (
          <Proof
            name={PROOF_LABELS.key_attestation}
            mode={android.mode}
            onMode={(mode) => set({ key_attestation: { ...android, mode } })}
            onRemove={() => remove('key_attestation')}
          >
            <AndroidFields android={android} onChange={(key_attestation) => set({ key_attestation })} />
          </Proof>
        )}
        {play !== undefined && (
          <Proof
            name={PROOF_LABELS.play_integrity}
            mode={play.mode}
            onMode={(mode) => set({ play_integrity: { ...play, mode } })}
            onRemove={() => remove('play_integrity')}
          >
            <PlayIntegrityFields play={play} onChange={(play_integrity) => set({ play_integrity })} />
          </Proof>
        )}
        <div className="flex flex-wrap gap-2">
          {ADDABLE.filter(([name]) => proofs[name] === undefined).map(([name, added]) => (
            <Button key={name} reason={reason} onClick={() => set(added())}>
              Add {PROOF_LABELS[name]}
            </Button>
          ))}
        </div>
        {problemAt(error, PATH) !== undefined && (
          <p role="alert" className="text-sm font-medium text-bad">
            {problemAt(error, PATH)}
          </p>
        )}
        <TextField
          label="Minimum version of the app"
          hint="Dotted numbers, compared with X-App-Version. Empty: any."
          value={minimum ?? ''}
          onChange={(typed) => change({ min_app_version: typed === '' ? undefined : typed })}
          error={problemAt(error, 'config.authentication.min_app_version')}
          reason={reason}
        />
      </DraftForm>
    </Card>
  );
}

function Proof({
  name,
  mode,
  onMode,
  onRemove,
  children,
}: {
  readonly name: string;
  readonly mode: (typeof MODES)[number]['value'];
  readonly onMode: (mode: (typeof MODES)[number]['value']) => void;
  readonly onRemove: () => void;
  readonly children: React.ReactNode;
}) {
  const reason = useReadOnlyReason();
  return (
    <section aria-label={name} className="flex flex-col gap-4">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">{name}</h3>
        <Button size="sm" onClick={onRemove} reason={reason}>
          Remove {name}
        </Button>
      </div>
      <SelectField label={`When ${name} fails`} value={mode} options={MODES} onChange={onMode} reason={reason} />
      {children}
    </section>
  );
}

/** The signals that iOS and macOS 27 sign. */
function SignalFields({
  apple,
  onChange,
}: {
  readonly apple: ProofAppAttest;
  readonly onChange: (apple: ProofAppAttest) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const path = `${PATH}.app_attest`;
  const { allowed_categories: allowed = [], min_bundle_version: minimum, require_signals: isRequired } = apple;
  const allow = (category: number, isOn: boolean) => {
    const others = allowed.filter((other) => other !== category);
    const next = isOn ? [...others, category] : others;
    onChange({ ...apple, allowed_categories: next.length > 0 ? next : undefined });
  };
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {CATEGORIES.map(({ category, label, hint }) => (
        <Checkbox
          key={category}
          label={label}
          hint={hint}
          checked={allowed.includes(category)}
          onChange={(isOn) => allow(category, isOn)}
          reason={reason}
        />
      ))}
      <Checkbox
        label="Only systems that sign this"
        hint="iOS and macOS 27 and later. Off: older systems are accepted."
        checked={isRequired ?? false}
        onChange={(isOn) => onChange({ ...apple, require_signals: isOn || undefined })}
        reason={reason}
      />
      <TextField
        label="Lowest bundle version"
        hint="As signed by the system. Empty: any."
        value={minimum ?? ''}
        onChange={(typed) => onChange({ ...apple, min_bundle_version: typed === '' ? undefined : typed })}
        error={problemAt(error, `${path}.min_bundle_version`)}
        reason={reason}
      />
    </div>
  );
}

function AndroidFields({
  android,
  onChange,
}: {
  readonly android: KeyAttestation;
  readonly onChange: (android: KeyAttestation) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const path = `${PATH}.key_attestation`;
  const set = (members: Partial<KeyAttestation>) => onChange({ ...android, ...members });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ListField
        label="Packages"
        hint="One application id per line, such as com.example.app."
        entries={android.package_names}
        onChange={(package_names) => set({ package_names })}
        error={problemAt(error, `${path}.package_names`)}
      />
      <ListField
        label="Signing certificates"
        hint="SHA-256 as 64 hexadecimal digits, one per line: your own and the one of the store."
        entries={android.signing_certificates}
        onChange={(signing_certificates) => set({ signing_certificates })}
        error={problemAt(error, `${path}.signing_certificates`)}
      />
      <SelectField
        label="Where the key is stored"
        value={android.min_security_level}
        options={[
          { value: 'tee', label: 'Trusted environment or StrongBox' },
          { value: 'strongbox', label: 'StrongBox only' },
        ]}
        onChange={(min_security_level) => set({ min_security_level })}
        reason={reason}
      />
      <SelectField
        label="Attesting key"
        value={android.provisioning}
        options={[
          { value: 'any', label: 'Any' },
          { value: 'remote', label: 'Renewed by the vendor over the air' },
        ]}
        onChange={(provisioning) => set({ provisioning })}
        reason={reason}
      />
      <NumberField
        label="Oldest security patch"
        hint="YYYYMM. Empty: any."
        value={android.min_os_patch}
        onChange={(min_os_patch) => set({ min_os_patch })}
        error={problemAt(error, `${path}.min_os_patch`)}
        reason={reason}
      />
      <NumberField
        label="Lowest version code"
        hint="As attested. Empty: any."
        value={android.min_version_code}
        onChange={(min_version_code) => set({ min_version_code })}
        error={problemAt(error, `${path}.min_version_code`)}
        reason={reason}
      />
      <Checkbox
        label="Only systems signed by the vendor"
        hint="An unlocked bootloader is always refused."
        checked={android.verified_boot}
        onChange={(verified_boot) => set({ verified_boot })}
        reason={reason}
      />
    </div>
  );
}
