import { useId } from 'react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Checkbox, Choices, TextField } from '../design/field';
import { Card } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { AppKeys } from './app-keys';
import { emptyIssuer, IssuerForm } from './issuer-form';
import { ListField } from './list-field';

type EndUser = NonNullable<Schemas['AppApiKeyAuthentication']['end_user']> | Schemas['AppInstallUser'];
type Source = EndUser['source'];

const DEFAULT_HEADER = 'x-end-user-id';

const MOBILE_SOURCES = [
  { value: 'app_install', label: 'The installation', hint: 'Nobody signs in. Each installation is a user.' },
  {
    value: 'issuer',
    label: 'Your sign-in',
    hint: 'Users send a token from Firebase, Supabase, Auth0, Clerk or your own provider.',
  },
] as const;

const SERVER_SOURCES = [
  { value: 'none', label: 'No users', hint: 'Calls count toward the application only.' },
  { value: 'header', label: 'A header', hint: 'Your server names the user of each call.' },
  { value: 'issuer', label: 'Your sign-in', hint: 'Users send a token, which your server exchanges.' },
] as const;

export function AuthenticationTab() {
  const { id, draft } = useAppDraft();
  const isServer = draft.config.authentication.type === 'api_key';
  return (
    <div className="flex flex-col gap-6">
      {!isServer && <DeviceForm />}
      <ProofsCard />
      <UserForm />
      <PagesForm />
      {isServer && <AppKeys app={id} />}
    </div>
  );
}

function DeviceForm() {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { authentication } = draft.config;
  if (authentication.type !== 'device_app_attest') return null;
  const { app_attest: attest } = authentication;
  const { environments = ['production'] } = attest;
  const set = (members: Partial<Schemas['AppAttest']>) =>
    changeConfig({ authentication: { ...authentication, app_attest: { ...attest, ...members } } });
  const path = 'config.authentication.app_attest';
  return (
    <Card title="Devices" lead="Apple’s App Attest proves that a call comes from your app on a genuine device.">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Team ID"
          value={attest.team_id}
          onChange={(team_id) => set({ team_id })}
          reason={reason}
          error={problemAt(error, `${path}.team_id`)}
        />
        <TextField
          label="Bundle ID"
          value={attest.bundle_id}
          onChange={(bundle_id) => set({ bundle_id })}
          reason={reason}
          error={problemAt(error, `${path}.bundle_id`)}
        />
        <Checkbox
          label="Accept development builds"
          hint="For apps that run from Xcode. Turn it off before you ship."
          checked={environments.includes('development')}
          onChange={(isOn) => set({ environments: isOn ? ['production', 'development'] : ['production'] })}
          reason={reason}
        />
      </div>
    </Card>
  );
}

/** Shows what this page cannot change yet, so that nobody takes it for absent. */
function ProofsCard() {
  const { authentication } = useAppDraft().draft.config;
  if (authentication.type !== 'device_proofs') return null;
  const { app_attest: apple, key_attestation: android } = authentication.proofs;
  return (
    <Card title="Devices" lead="What devices prove themselves with. Change it in configuration files or with gw.">
      <ul className="flex flex-col gap-2 text-sm">
        {apple !== undefined && (
          <li>
            App Attest: {apple.bundle_id} of {apple.team_id}
          </li>
        )}
        {android !== undefined && <li>Android key attestation: {android.package_names.join(', ')}</li>}
      </ul>
    </Card>
  );
}

function UserForm() {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const note = useId();
  const { authentication } = draft.config;
  const isServer = authentication.type === 'api_key';
  const endUser: EndUser = authentication.end_user ?? { source: 'none' };
  const set = (next: EndUser) =>
    changeConfig({ authentication: { ...authentication, end_user: next } as typeof authentication });
  const choose = (source: Source) => {
    if (source === endUser.source || reason !== undefined) return;
    if (source === 'issuer') set({ source, issuer: emptyIssuer() });
    else if (source === 'header') set({ source, header: DEFAULT_HEADER });
    else set({ source });
  };
  return (
    <Card title="Users" lead="Which user’s limits and budget a call counts toward.">
      <div className="flex flex-col gap-5">
        {reason !== undefined && (
          <p id={note} className="text-sm text-muted">
            {reason}
          </p>
        )}
        <Choices
          legend="How users are identified"
          value={endUser.source}
          choices={isServer ? SERVER_SOURCES : MOBILE_SOURCES}
          onChange={choose}
        />
        {endUser.source === 'header' && (
          <TextField
            label="Header"
            hint="Your server sends the user’s id in it."
            value={endUser.header ?? DEFAULT_HEADER}
            onChange={(header) => set({ source: 'header', header })}
            reason={reason}
            error={problemAt(error, 'config.authentication.end_user.header')}
          />
        )}
        {endUser.source === 'issuer' && (
          <IssuerForm issuer={endUser.issuer} onChange={(issuer) => set({ source: 'issuer', issuer })} />
        )}
      </div>
    </Card>
  );
}

function PagesForm() {
  const { draft, changeConfig, error } = useAppDraft();
  return (
    <Card title="Pages" lead="Web pages and web views that may call with a token or key of this application.">
      <ListField
        label="Allowed origins"
        hint="One a line, as https://app.example.com or capacitor://localhost. Empty: no page of another origin can call."
        entries={draft.config.allowed_origins ?? []}
        onChange={(origins) => changeConfig({ allowed_origins: origins.length > 0 ? origins : undefined })}
        error={problemAt(error, 'config.allowed_origins')}
      />
    </Card>
  );
}
