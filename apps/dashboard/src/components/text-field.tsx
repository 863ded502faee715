import { type ComponentProps, useId } from 'react'

/** A labelled field of several lines with an optional hint. */
export function TextField({
  label,
  hint,
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
        spellCheck={false}
        autoComplete="off"
        {...props}
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="w-full resize-y rounded-md border border-line bg-panel p-3 font-mono text-xs leading-5 placeholder:text-muted"
      />
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
