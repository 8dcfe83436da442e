import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Card, ErrorAlert } from '../design/layout';

/** An account that a program opened and that no person owns yet. */
export function ClaimCard() {
  const client = useQueryClient();
  const [bootstrapKey, setBootstrapKey] = useState('');
  const [error, setError] = useState<unknown>();
  const claim = async () => {
    setError(undefined);
    try {
      await read(api.POST('/v1/admin/organizations/claim', { body: { bootstrapKey } }));
      await client.invalidateQueries();
    } catch (thrown) {
      setError(thrown);
    }
  };
  const problem = problemAt(error, 'bootstrapKey');
  return (
    <Card title="Claim this account" lead="A program opened it. Enter its key to claim it.">
      <form
        className="flex flex-wrap items-start gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void claim();
        }}
      >
        <TextField
          label="Bootstrap key"
          type="password"
          autoComplete="off"
          value={bootstrapKey}
          onChange={setBootstrapKey}
          error={problem}
          className="flex-1"
        />
        <Button size="row" type="submit">
          Claim
        </Button>
      </form>
      {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
    </Card>
  );
}
