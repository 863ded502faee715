import { type ComponentProps, useId } from 'react'

/** A labelled input with an optional hint. */
export function Field({ label, hint, ...props }: ComponentProps<'input'> & { label: string; hint?: string }) {
  const id = useId()
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        {...props}
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="h-9 w-full rounded-md border border-line bg-panel px-3 text-sm placeholder:text-muted"
      />
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

/** A labelled field of several lines, with an optional hint. */
export function TextArea({
  label,
  hint,
  className = '',
  ...props
}: ComponentProps<'textarea'> & { label: string; hint?: string }) {
  const id = useId()
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <textarea
        rows={4}
        {...props}
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className={`w-full rounded-md border border-line bg-panel px-3 py-2 text-sm placeholder:text-muted ${className}`}
      />
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
