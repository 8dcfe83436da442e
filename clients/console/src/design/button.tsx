import { clsx } from 'clsx';
import { type ButtonHTMLAttributes, type ReactNode, useId } from 'react';
import { Link } from 'wouter';

type Look = 'primary' | 'secondary' | 'ghost' | 'danger';

const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border-transparent',
  secondary: 'bg-surface text-ink border-line hover:bg-hover',
  ghost: 'bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-bad-solid text-white border-transparent hover:opacity-90',
};

const SHAPE =
  'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap motion-safe:transition-colors';
/** `row`: next to fields, at the height of their controls. */
const SIZES = { md: 'h-8 px-3 text-sm', sm: 'h-7 px-2 text-xs', row: 'mt-6 h-9 px-3 text-sm' } as const;

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  readonly look?: Look;
  readonly size?: keyof typeof SIZES;
  /** Why it cannot be used now; it stays reachable by keyboard, so that the reason can be read. */
  readonly reason?: string | undefined;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

export function Button({
  look = 'secondary',
  size = 'md',
  reason,
  isBusy = false,
  type = 'button',
  onClick,
  children,
  className,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const isOff = reason !== undefined || isBusy;
  return (
    <>
      <button
        {...rest}
        type={type}
        className={clsx(SHAPE, SIZES[size], LOOKS[look], isOff && 'cursor-not-allowed opacity-55', className)}
        aria-disabled={isOff || undefined}
        aria-busy={isBusy || undefined}
        aria-describedby={reason === undefined ? rest['aria-describedby'] : reasonId}
        title={reason}
        onClick={(event) => {
          if (isOff) event.preventDefault();
          else onClick?.(event);
        }}
      >
        {children}
      </button>
      {reason !== undefined && (
        <span id={reasonId} hidden>
          {reason}
        </span>
      )}
    </>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  to,
  look = 'secondary',
  size = 'md',
  'aria-label': label,
  children,
}: {
  readonly to: string;
  readonly 'aria-label'?: string;
  readonly look?: Look;
  readonly size?: keyof typeof SIZES;
  readonly children: ReactNode;
}) {
  return (
    <Link href={to} aria-label={label} className={clsx(SHAPE, SIZES[size], LOOKS[look])}>
      {children}
    </Link>
  );
}
