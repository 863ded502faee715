import type { ComponentProps, MouseEvent } from 'react'

const looks = {
  primary: 'bg-accent text-on-accent shadow-raised hover:brightness-110',
  plain: 'border border-line bg-panel text-ink shadow-raised hover:bg-raised',
  quiet: 'text-ink hover:bg-raised',
  danger: 'border border-line bg-panel text-bad shadow-raised hover:border-bad/50 hover:bg-soft-bad',
} as const
const sizes = { medium: 'h-9 px-3', small: 'h-7 px-2.5 text-xs' } as const

type Look = keyof typeof looks
type Size = keyof typeof sizes

/** A disabled button looks flat, unlike a button that works. */
const disabledClass =
  'aria-disabled:cursor-not-allowed aria-disabled:border-line aria-disabled:bg-raised aria-disabled:text-muted aria-disabled:shadow-none aria-disabled:hover:brightness-100'

/** The classes of a button, for a link that looks like one. */
export function buttonClass(look: Look = 'plain', size: Size = 'medium'): string {
  return `inline-flex shrink-0 cursor-pointer items-center justify-center gap-2 whitespace-nowrap rounded-md text-sm font-medium transition-colors ${disabledClass} ${sizes[size]} ${looks[look]}`
}

const refuse = (event: MouseEvent): void => event.preventDefault()

/**
 * What a button that does nothing now gets. It is not `disabled`, because a browser takes the focus away from a disabled
 * button, and nobody who uses the keyboard could read in its title why it is.
 */
const inert = { 'aria-disabled': true, onClick: refuse } as const

/** A button. `busy` disables it and says so to screen readers. */
export function Button({
  look = 'plain',
  size = 'medium',
  busy = false,
  disabled = false,
  className = '',
  ...props
}: ComponentProps<'button'> & { look?: Look; size?: Size; busy?: boolean }) {
  return (
    <button
      type="button"
      {...props}
      {...(disabled || busy ? inert : {})}
      aria-busy={busy || undefined}
      className={`${buttonClass(look, size)} ${className}`}
    />
  )
}

/** A square button that shows an icon only. `label` is its name for screen readers, and the hint on hover. */
export function IconButton({
  label,
  disabled = false,
  className = '',
  ...props
}: Omit<ComponentProps<'button'>, 'aria-label' | 'title'> & { label: string }) {
  return (
    <button
      type="button"
      title={label}
      {...props}
      {...(disabled ? inert : {})}
      aria-label={label}
      className={`inline-flex size-9 shrink-0 cursor-pointer items-center justify-center rounded-md text-muted transition-colors hover:bg-raised hover:text-ink aria-disabled:cursor-not-allowed aria-disabled:opacity-60 ${className}`}
    />
  )
}
