import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import type { Verdict } from './probe.rules';
import { markTested, testedBy } from './provider-test';

/** A new key, tested before it replaces the old one. */
export function RotateProvider({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const client = useQueryClient();
  const say = useToast();
  const [secret, setSecret] = useState('');
  const [tested, setTested] = useState<{ readonly verdict: Verdict; readonly of: string }>();
  const { run, error, isBusy } = useSubmit();
  const verdict = tested?.of === secret ? tested.verdict : undefined;
  const save = async () => {
    const params = { path: { id: provider.id } };
    await read(api.PUT('/v1/admin/providers/{id}', { params, body: { secret, revision: provider.revision } }));
    await markTested(provider);
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    say(`${provider.name} now uses its new key.`);
    onClose();
  };
  const testAndSave = () =>
    run(async () => {
      const { type, baseUrl } = provider;
      const candidate = { type, secret, ...(baseUrl === null ? {} : { baseUrl }) };
      const found = await testedBy(candidate, provider.name);
      setTested({ verdict: found, of: secret });
      if (found.isAccepted) await save();
    });
  const problem = problemAt(error, 'secret');
  const isKept = verdict !== undefined && !verdict.isAccepted;
  return (
    <Dialog
      title={`Rotate the key of ${provider.name}`}
      lead={`The new key is tested with one free call and stored if the provider accepts it. Calls in progress finish with the one that ends with ${provider.secretHint}.`}
      isOpen
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void testAndSave();
        }}
      >
        <TextField
          label="New provider key"
          type="password"
          autoComplete="off"
          required
          value={secret}
          onChange={setSecret}
          error={problem ?? (verdict?.isRefused ? verdict.text : undefined)}
        />
        {isKept && (
          <Alert tone={verdict.isRefused ? 'bad' : 'warn'}>
            {verdict.isRefused ? '' : `${verdict.text} `}Nothing is stored: the old key stays in use.
          </Alert>
        )}
        {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          {isKept && (
            <Button isBusy={isBusy} onClick={() => void run(save)}>
              {verdict.isRefused ? 'Save the refused key' : 'Save without a test'}
            </Button>
          )}
          <Button look="primary" type="submit" isBusy={isBusy}>
            Test and save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
