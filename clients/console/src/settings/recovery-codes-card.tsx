import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Card, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { SecretDialog } from '../design/secret-dialog';

const KEY = ['own-recovery-codes'];

/** How many recovery codes the person has, and new ones. */
export function RecoveryCodesCard() {
  const client = useQueryClient();
  const { run, error: problem, isBusy } = useSubmit();
  const [codes, setCodes] = useState<string>();
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await read(api.GET('/v1/auth/recovery-codes'))).unused,
  });
  const replace = () =>
    run(async () => {
      setCodes((await read(api.POST('/v1/auth/recovery-codes'))).codes.join('\n'));
      await client.invalidateQueries({ queryKey: KEY });
    });
  return (
    <Card
      title="Recovery codes"
      lead="Each code sets a new password once, without the old one. Keep them where nobody else can read them."
      actions={
        <Button isBusy={isBusy} onClick={() => void replace()}>
          {query.data === 0 ? 'Create codes' : 'Replace codes'}
        </Button>
      }
    >
      {problem !== undefined && <ErrorAlert error={problem} />}
      <Loaded query={query} rows={1}>
        {(unused) => (
          <p>
            {unused === 0
              ? 'You have no recovery codes.'
              : `${unused} of 10 codes are unused. New codes replace all of them.`}
          </p>
        )}
      </Loaded>
      <SecretDialog title="Your recovery codes" label="Codes" secret={codes} onClose={() => setCodes(undefined)} />
    </Card>
  );
}
