import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { SelectField, TextField } from '../design/field';
import { Calls } from './calls';
import { Charts } from './charts';
import { Corrections } from './corrections';
import { MEASURES } from './measures';
import { periodChoices } from './periods.rules';
import { type UsageAddress, useUsageAddress } from './usage-address';

const VIEWS = [
  { value: '', label: 'Charts' },
  { value: 'calls', label: 'Calls' },
  { value: 'corrections', label: 'Corrections' },
] as const;

/** Usage of an application, or of the account: charts, single calls, corrections of costs. */
export function UsageReport({ app, children }: { readonly app: string | undefined; readonly children?: ReactNode }) {
  const address = useUsageAddress();
  const [path] = useLocation();
  const view = VIEWS.find(({ value }) => value === address.search.get('view'))?.value ?? '';
  return (
    <div className="flex flex-col gap-6">
      <nav aria-label="Parts of usage" className="flex flex-wrap gap-1">
        {VIEWS.map(({ value, label }) => (
          <Link
            key={value}
            href={`${path}${address.to({ view: value })}`}
            aria-current={value === view ? 'page' : undefined}
            className={clsx(
              'rounded-md px-3 py-1.5 text-sm',
              value === view ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-hover hover:text-ink',
            )}
          >
            {label}
          </Link>
        ))}
      </nav>
      {view !== 'corrections' && (
        <div className="flex flex-wrap items-end gap-3">
          <PeriodFields address={address} />
          {view === '' && (
            <SelectField
              label="Measure"
              value={address.measure}
              options={MEASURES}
              onChange={(measure) => address.set({ measure })}
            />
          )}
        </div>
      )}
      {view === '' && (
        <>
          {children}
          <Charts app={app} address={address} />
        </>
      )}
      {view === 'calls' && <Calls app={app} address={address} />}
      {view === 'corrections' && <Corrections app={app} />}
    </div>
  );
}

function PeriodFields({ address }: { readonly address: UsageAddress }) {
  const { period, set } = address;
  const choices = periodChoices(Date.now());
  // An address can have a month before the last twelve.
  const options = choices.some(({ value }) => value === period.choice)
    ? choices
    : [...choices, { value: period.choice, label: period.choice }];
  return (
    <>
      <SelectField
        label="Period (UTC)"
        value={period.choice}
        options={options}
        onChange={(choice) =>
          set(
            choice === 'days' ? { period: '', from: period.from, to: period.to } : { period: choice, from: '', to: '' },
          )
        }
      />
      {period.choice === 'days' && (
        <>
          <TextField
            label="First day"
            type="date"
            value={period.from}
            max={period.to}
            onChange={(from) => from !== '' && from <= period.to && set({ from })}
          />
          <TextField
            label="Last day"
            type="date"
            value={period.to}
            min={period.from}
            onChange={(to) => to >= period.from && set({ to })}
          />
        </>
      )}
    </>
  );
}
