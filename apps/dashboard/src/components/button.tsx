import type { ComponentProps } from 'react'

const looks = {
  primary: 'bg-accent text-on-accent hover:opacity-90',
  plain: 'bg-panel text-ink border border-line hover:bg-raised',
  quiet: 'text-ink hover:bg-raised',
  danger: 'bg-panel text-bad border border-line hover:bg-raised',
} as const

/** A button. `busy` disables it and says so to screen readers. */
export function Button({
  look = 'plain',
  busy = false,
  className = '',
  ...props
}: ComponentProps<'button'> & { look?: keyof typeof looks; busy?: boolean }) {
  return (
    <button
      type="button"
      {...props}
      disabled={props.disabled || busy}
      aria-busy={busy || undefined}
      className={`inline-flex h-9 shrink-0 cursor-pointer items-center justify-center gap-2 whitespace-nowrap rounded-md px-3 text-sm font-medium disabled:cursor-not-allowed disabled:opacity-60 ${looks[look]} ${className}`}
    />
  )
}
