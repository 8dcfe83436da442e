import { useId } from 'react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Button } from '../design/button';
import { DocumentationLink } from '../design/documentation';
import { Choices, TextField } from '../design/field';
import { Card } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { AppAttestFields } from './app-attest-fields';
import { DraftForm, useAppDraft } from './app-draft';
import { AppKeys } from './app-keys';
import { emptyIssuer, IssuerForm } from './issuer-form';
import { ListField } from './list-field';
import { PlayCredentials } from './play-credentials';
import { ProofsCard } from './proofs-card';

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
  const { authentication } = draft.config;
  const isServer = authentication.type === 'api_key';
  const hasPlay = authentication.type === 'device_proofs' && authentication.proofs.play_integrity !== undefined;
  return (
    <div className="flex flex-col gap-6">
      {!isServer && (
        <p className="-mb-3 text-sm text-muted">
          How an app proves its device and gets a token:{' '}
          <DocumentationLink to="/docs/guides/call-from-a-phone">Call from a phone</DocumentationLink>
        </p>
      )}
      {!isServer && <DeviceForm />}
      <ProofsCard />
      {hasPlay && <PlayCredentials app={id} />}
      <UserForm />
      <PagesForm />
      {isServer && <AppKeys app={id} />}
    </div>
  );
}

function DeviceForm() {
  const { draft, changeConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const { authentication } = draft.config;
  if (authentication.type !== 'device_app_attest') return null;
  const { app_attest: attest, end_user: endUser } = authentication;
  const takeOthers = () => {
    const proofs = { app_attest: { ...attest, mode: 'enforce' as const, framework_client: false } };
    changeConfig({ authentication: { type: 'device_proofs', end_user: endUser, proofs } });
  };
  return (
    <Card
      title="Devices"
      lead="Apple’s App Attest proves that a call comes from your app on a genuine device."
      actions={
        <Button size="sm" onClick={takeOthers} reason={reason}>
          Add Android and other devices
        </Button>
      }
    >
      <DraftForm>
        <AppAttestFields
          attest={attest}
          onChange={(members) =>
            changeConfig({ authentication: { ...authentication, app_attest: { ...attest, ...members } } })
          }
          path="config.authentication.app_attest"
        />
      </DraftForm>
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
      <DraftForm className="flex flex-col gap-5">
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
      </DraftForm>
    </Card>
  );
}

function PagesForm() {
  const { draft, changeConfig, error } = useAppDraft();
  return (
    <Card title="Pages" lead="Web pages and web views that may call with a token or key of this application.">
      <ListField
        label="Allowed origins"
        hint="One per line, such as https://app.example.com or capacitor://localhost. Empty: no page of another origin can call."
        entries={draft.config.allowed_origins ?? []}
        onChange={(origins) => changeConfig({ allowed_origins: origins.length > 0 ? origins : undefined })}
        error={problemAt(error, 'config.allowed_origins')}
      />
    </Card>
  );
}
