import type { Schemas } from '../api/client';
import { countedText, countText } from '../design/amounts.rules';
import { Badge, Card } from '../design/layout';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';

type Deployment = Schemas['DeploymentResponse'];
type Instance = Deployment['instances'][number];
type Setting = Deployment['settings'][number];

const CLOCK_TOLERANCE_MS = 2_000;
/** One missed nightly run is not a problem; two are. */
const MAINTENANCE_LATE_MS = 50 * 3_600_000;

const INSTANCE_COLUMNS: readonly Column<Instance>[] = [
  {
    key: 'host',
    header: 'Instance',
    cell: ({ host, pid, current }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <span className="break-all">
          {host}, process {pid}
        </span>
        {current && <Badge>This one</Badge>}
      </span>
    ),
  },
  { key: 'version', header: 'Version', cell: ({ version }) => version },
  { key: 'started', header: 'Started', isDetail: true, cell: ({ startedAt }) => <Time at={startedAt} isRelative /> },
  {
    key: 'clock',
    header: 'Clock',
    isNumber: true,
    cell: ({ clockAheadMs: ahead }) => (
      <Badge tone={Math.abs(ahead) > CLOCK_TOLERANCE_MS ? 'warn' : 'good'}>
        {ahead > 0 ? '+' : ''}
        {countText(ahead)} ms
      </Badge>
    ),
  },
];

const SETTING_COLUMNS: readonly Column<Setting>[] = [
  { key: 'name', header: 'Setting', cell: ({ name }) => <code className="text-xs">{name}</code> },
  {
    key: 'value',
    header: 'Value',
    cell: ({ value }) =>
      value === null ? <span className="text-muted">not set</span> : <code className="text-xs break-all">{value}</code>,
  },
];

/** Shown only to owners of the deployment. */
export function DeploymentCards({ deployment }: { readonly deployment: Deployment }) {
  const { version, node, instances, database, pendingEvents, maintenance, prices, settings } = deployment;
  return (
    <>
      <Card
        title="Instances"
        lead={`Version ${version} on Node ${node}, with ${database === 'embedded' ? 'the embedded' : 'your own'} Postgres.`}
        isFlush
      >
        <Table caption="Instances" columns={INSTANCE_COLUMNS} rows={instances} rowKey={({ id }) => id} />
      </Card>
      <Card title="Nightly maintenance" lead="Deletes rows past their retention, and reseals provider keys.">
        <Maintenance run={maintenance} />
        <p className="mt-2 text-sm text-muted">
          {countedText(pendingEvents, 'recorded call waits', 'recorded calls wait')} in the journal to be stored,
          usually for less than a second.
        </p>
      </Card>
      <Card title="Prices" lead="What calls cost, unless a provider has custom prices.">
        {prices.date === null ? (
          <p>The built-in prices of this version.</p>
        ) : (
          <p>
            Those of the file in <code className="text-xs">PRICES_FILE</code>, modified <Time at={prices.date} />.
            Models that it does not have cost the built-in prices.
          </p>
        )}
      </Card>
      <Card title="Settings" lead="Settings that affect behaviour; secrets are not shown." isFlush>
        <Table caption="Settings" columns={SETTING_COLUMNS} rows={settings} rowKey={({ name }) => name} />
      </Card>
    </>
  );
}

function Maintenance({ run }: { readonly run: Deployment['maintenance'] }) {
  if (run === null) return <p>It has not run yet. It runs at 03:17 UTC, on one of the instances.</p>;
  const { endedAt, outcome } = run;
  const isLate = Date.now() - Date.parse(endedAt) > MAINTENANCE_LATE_MS;
  return (
    <p className="flex flex-wrap items-center gap-2">
      <Badge tone={outcome === 'failed' ? 'bad' : isLate ? 'warn' : 'good'}>{outcome}</Badge>
      <Time at={endedAt} />
      <span className="text-muted">
        {outcome === 'failed' && 'A step failed; the log names it. The next night tries again.'}
        {outcome !== 'failed' && isLate && 'That was long ago: was an instance running at 03:17 UTC?'}
      </span>
    </p>
  );
}
