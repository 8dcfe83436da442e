import { useQuery } from '@tanstack/react-query';
import { api, read, type Schemas } from '../api/client';
import { countText } from '../design/amounts.rules';
import { Card } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { PROOF_LABELS } from './proof-modes.rules';

type ProofAttempts = Schemas['ProofAttemptsResponse'];
type Lost = Schemas['LostAttemptsResponse'];

const PROOFS: Readonly<Record<string, string>> = PROOF_LABELS;
const proofName = (proof: string | null) => (proof === null ? 'Not known' : (PROOFS[proof] ?? proof));
const MOST_LOST = 20;

const STEPS: readonly Column<ProofAttempts>[] = [
  { key: 'proof', header: 'Proof', cell: ({ proof }) => proofName(proof) },
  { key: 'event', header: 'Step', cell: ({ event }) => (event === 'register' ? 'Register device' : 'Get a token') },
  { key: 'all', header: 'Attempts', isNumber: true, cell: (row) => countText(row.ok + row.would_reject + row.refused) },
  { key: 'ok', header: 'Proven', isNumber: true, cell: ({ ok }) => countText(ok) },
  { key: 'admitted', header: 'Admitted without', isNumber: true, cell: (row) => countText(row.would_reject) },
  { key: 'refused', header: 'Refused', isNumber: true, cell: ({ refused }) => countText(refused) },
];

const LOST: readonly Column<Lost>[] = [
  { key: 'day', header: 'Day', cell: ({ day }) => day },
  { key: 'proof', header: 'Proof', cell: ({ proof }) => proofName(proof) },
  { key: 'reason', header: 'Reason', cell: ({ reason }) => <code className="text-xs">{reason}</code> },
  { key: 'version', header: 'Version', isDetail: true, cell: ({ app_version: version }) => version ?? '—' },
  { key: 'attempts', header: 'Attempts', isNumber: true, cell: ({ attempts }) => countText(attempts) },
];

/** The outcome of attempts by proof, step by step. */
export function ProofFunnel({ steps, days }: { readonly steps: readonly ProofAttempts[]; readonly days: number }) {
  return (
    <Card title="Proofs" lead={`The outcome of device attempts in the last ${days} days.`} isFlush>
      <Table
        caption="Attempts by proof"
        columns={STEPS}
        rows={steps}
        rowKey={({ proof, event }) => `${proof} ${event}`}
      />
    </Card>
  );
}

/** The users that the application would lose if it enforced every proof. */
export function EnforcementCard({ app, days }: { readonly app: string; readonly days: number }) {
  const preview = useQuery({
    queryKey: ['app', app, 'enforcement', days],
    queryFn: () =>
      read(api.POST('/v1/admin/apps/{app}/enforcement-preview', { params: { path: { app } }, body: { days } })),
  });
  return (
    <Card
      title="Preview of enforcement"
      lead={`What would change if every proof were enforced, based on the admitted attempts of the last ${days} days.`}
      isFlush
    >
      <Loaded query={preview} rows={2}>
        {(shown) => (
          <>
            <p className="p-4">{summaryOf(shown)}</p>
            {shown.by.length > 0 && (
              <Table
                caption="Attempts that would be refused"
                columns={LOST}
                rows={shown.by.slice(0, MOST_LOST)}
                rowKey={(row) => JSON.stringify([row.day, row.proof, row.reason, row.app_version])}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function summaryOf({ attempts, would_reject: lost, users }: Schemas['EnforcementPreviewResponse']): string {
  if (attempts === 0) return 'No device has been admitted yet.';
  const ofUsers = users === undefined ? '' : `, of ${countText(users)} known users`;
  return `${countText(lost)} of ${countText(attempts)} attempts would be refused${ofUsers}.`;
}
