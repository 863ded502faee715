import { type ComponentProps, useId } from 'react'

/** A labelled choice with an optional hint. */
export function Select({
  label,
  hint,
  ...props
}: ComponentProps<'select'> & { label: string; hint?: string }) {
  const id = useId()
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <select
        {...props}
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="h-9 w-full rounded-md border border-line bg-panel px-2 text-sm"
      />
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
