import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { Button, ButtonLink } from '../design/button';
import { Checkbox, Choices, TextField } from '../design/field';
import { Card, ErrorAlert, PageHeader } from '../design/layout';
import { SecretDialog } from '../design/secret-dialog';
import { useReadOnlyReason } from '../shell/session';
import { type AppKind, newConfig } from './app-config.rules';

const KINDS = [
  {
    value: 'mobile',
    label: 'Mobile app',
    hint: 'Its devices authenticate with App Attest (iOS) or key attestation (Android); the app contains no key. Create it for iOS here, and add Android under Authentication.',
  },
  { value: 'server', label: 'Server', hint: 'Your backend. It calls with a key that you keep secret.' },
] as const;

export function NewAppPage() {
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<AppKind>('server');
  const [teamId, setTeamId] = useState('');
  const [bundleId, setBundleId] = useState('');
  const [allowsDevelopment, setAllowsDevelopment] = useState(true);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [made, setMade] = useState<{ readonly id: string; readonly key: string | undefined }>();
  const leave = (id: string) => navigate(`/apps/${id}/overview`);
  const create = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const config = newConfig({ kind, teamId, bundleId, allowsDevelopment });
      const { app, api_key: key } = await read(api.POST('/v1/admin/apps', { body: { name, config } }));
      await client.invalidateQueries({ queryKey: ['apps'] });
      if (key === null) leave(app.id);
      else setMade({ id: app.id, key: key.key });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const attest = 'config.authentication.app_attest';
  const problems = {
    name: problemAt(error, 'name'),
    teamId: problemAt(error, `${attest}.team_id`),
    bundleId: problemAt(error, `${attest}.bundle_id`),
  };
  const isAtField = Object.values(problems).some((problem) => problem !== undefined);
  return (
    <div className="max-w-2xl">
      <PageHeader
        title="New application"
        lead="Its id never changes. Everything else can; the client type only through the API."
      />
      <Card>
        <form
          className="flex flex-col gap-5"
          onSubmit={(event) => {
            event.preventDefault();
            if (reason === undefined) void create();
          }}
        >
          <TextField
            label="Application name"
            required
            maxLength={100}
            value={name}
            onChange={setName}
            error={problems.name}
          />
          <Choices legend="Client type" value={kind} choices={KINDS} onChange={setKind} />
          {kind === 'mobile' && (
            <>
              <div className="grid gap-4 sm:grid-cols-2">
                <TextField
                  label="Team ID"
                  hint="Ten uppercase letters or digits, from your Apple Developer account."
                  required
                  value={teamId}
                  onChange={setTeamId}
                  error={problems.teamId}
                />
                <TextField
                  label="Bundle ID"
                  hint="For example, com.example.journal."
                  required
                  value={bundleId}
                  onChange={setBundleId}
                  error={problems.bundleId}
                />
              </div>
              <Checkbox
                label="Accept development builds"
                hint="Needed for apps that run from Xcode. Turn it off before you ship."
                checked={allowsDevelopment}
                onChange={setAllowsDevelopment}
              />
              <p className="text-sm text-muted">
                It starts with limits of 10 requests a minute and 300 a day for each user, and an identity for each
                installation. Sign-in with your own users is set up under Authentication.
              </p>
            </>
          )}
          {error !== undefined && !isAtField && <ErrorAlert error={error} />}
          <div className="flex gap-2">
            <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
              Create
            </Button>
            <ButtonLink to="/apps">Cancel</ButtonLink>
          </div>
        </form>
      </Card>
      <SecretDialog
        title="Your application key"
        secret={made?.key}
        onClose={() => made !== undefined && leave(made.id)}
      />
    </div>
  );
}
