import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { ApiError } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { Badge, Card, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { DayStrip } from './day-strip';
import { DeploymentCards } from './deployment-cards';

type Readiness = Schemas['ReadinessResponse'];
type Deployment = Schemas['DeploymentResponse'];

const POLL_MS = 10_000;

interface Part {
  readonly name: string;
  readonly purpose: string;
  /** The member of readiness with its state. */
  readonly member: Schemas['PartHistoryResponse']['part'];
  /** States that need no action. */
  readonly good: readonly string[];
  /** What to do in any other state. */
  readonly advice: string;
}

const PARTS: readonly Part[] = [
  {
    name: 'Database',
    purpose: 'Postgres keeps everything: accounts, applications, usage.',
    member: 'database',
    good: ['ok'],
    advice: 'Start Postgres again and check its log. Calls with cached configuration continue meanwhile.',
  },
  {
    name: 'Redis',
    purpose: 'Counts requests for several instances together.',
    member: 'redis',
    good: ['ok', 'unused'],
    advice: 'Check REDIS_URL and the server. Limits still apply without it, each instance within its share.',
  },
  {
    name: 'Vault',
    purpose: 'Decrypts provider keys.',
    member: 'vault',
    good: ['ok'],
    advice: 'No provider key can be decrypted: set the key-encryption key that sealed them.',
  },
  {
    name: 'Usage journal',
    purpose: 'Keeps usage on disk until Postgres has it.',
    member: 'journal',
    good: ['ok'],
    advice: 'Free space in DATA_DIR, or bring Postgres back, so that usage can be stored.',
  },
  {
    name: 'Configuration changes',
    purpose: 'Reach every instance within a second.',
    member: 'configChanges',
    good: ['connected'],
    advice: 'The connection for notifications is lost; changes arrive within ten seconds until it is back.',
  },
  {
    name: 'Clock',
    purpose: 'Windows, months and tokens use the time of the database.',
    member: 'clock',
    good: ['ok'],
    advice: 'This machine’s clock is wrong. Nothing breaks, but logs of the machine show other times.',
  },
  {
    name: 'Request limits',
    purpose: 'Apply to all instances together.',
    member: 'limits',
    good: ['ok'],
    advice: 'Without Redis each instance counts within its share, so callers are refused earlier.',
  },
];

/** The body is the same whether the instance is ready or not. */
async function readiness(): Promise<Readiness> {
  const { data, error, response } = await api.GET('/v1/readyz').catch(() => {
    throw ApiError.offline();
  });
  const body: unknown = data ?? error;
  if (typeof Object(body).ready !== 'boolean') throw ApiError.of(response, body);
  return body as Readiness;
}

/** The whole deployment for its owners; the public health of this instance for everyone else. */
async function health(): Promise<{ readonly readiness: Readiness; readonly deployment?: Deployment }> {
  try {
    const deployment = await read(api.GET('/v1/admin/deployment'));
    return { readiness: deployment.readiness, deployment };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { readiness: await readiness() };
    throw error;
  }
}

export function HealthPage() {
  const query = useQuery({ queryKey: ['health'], queryFn: health, refetchInterval: POLL_MS });
  const isReady = query.data?.readiness.ready;
  return (
    <>
      <PageHeader
        title="Health"
        lead="The parts of this deployment, as seen by the instance that answers."
        actions={
          isReady !== undefined && (
            <Badge tone={isReady ? 'good' : 'bad'}>{isReady ? 'Accepts calls' : 'Accepts no calls'}</Badge>
          )
        }
      />
      <Loaded query={query} rows={8}>
        {(shown) => <Parts {...shown} />}
      </Loaded>
    </>
  );
}

function Parts({ readiness: shown, deployment }: Awaited<ReturnType<typeof health>>) {
  const { instances } = shown;
  return (
    <div className="flex flex-col gap-3">
      <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3" aria-label="Parts, failing ones first">
        {failingFirst(shown).map((part) => (
          <PartCell key={part.name} part={part} state={shown[part.member]} history={deployment?.history} />
        ))}
      </ul>
      {deployment === undefined ? (
        <Card>
          <p>
            <strong>{instances}</strong> {instances === 1 ? 'instance serves' : 'instances serve'} from this database.
            Owners of the first account see more.
          </p>
        </Card>
      ) : (
        <DeploymentCards deployment={deployment} />
      )}
    </div>
  );
}

/** In the order of the list, those that need action first. */
function failingFirst(readiness: Readiness): readonly Part[] {
  const isGood = ({ good, member }: Part) => good.includes(readiness[member]);
  return [...PARTS.filter((part) => !isGood(part)), ...PARTS.filter(isGood)];
}

function PartCell({
  part: { name, purpose, member, good, advice },
  state,
  history,
}: {
  readonly part: Part;
  readonly state: string;
  readonly history: Deployment['history'] | undefined;
}) {
  const isGood = good.includes(state);
  const failing = history?.parts.find(({ part }) => part === member)?.failing;
  return (
    <li
      className={clsx(
        'flex min-w-0 flex-col gap-2 rounded-lg border bg-surface p-4',
        isGood ? 'border-line' : 'border-bad',
      )}
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{name}</h2>
        <Badge tone={isGood ? 'good' : 'bad'}>{state}</Badge>
      </div>
      <p className="text-sm text-muted">{isGood ? purpose : advice}</p>
      {history !== undefined && failing !== undefined && <DayStrip {...history} failing={failing} />}
    </li>
  );
}
