import { type ComponentProps, type ReactNode, useId } from 'react'

type Labels = { label: ReactNode; hint?: ReactNode; error?: string | undefined }

/** The look of everything that takes text or a choice. What takes none looks flat. */
export const controlClass =
  'rounded-md border border-control bg-panel text-sm placeholder:text-muted aria-invalid:border-bad disabled:cursor-not-allowed disabled:border-line disabled:bg-raised disabled:text-muted'
const control = `w-full px-3 ${controlClass}`

/** What a control says about itself to screen readers. */
const describe = (id: string, { hint, error }: Labels) => ({
  'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
  'aria-invalid': error ? true : undefined,
})

/** The label above a control, and the hint or what is wrong below it. */
function Labelled({ id, label, hint, error, children }: Labels & { id: string; children: ReactNode }) {
  return (
    <div className="grid content-start gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="m-0 text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

/** A labelled input with an optional hint, and the sentence about what is wrong with it. */
export function Field({ label, hint, error, className = '', ...props }: ComponentProps<'input'> & Labels) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input
        {...props}
        id={id}
        {...describe(id, { label, hint, error })}
        className={`h-9 ${control} ${className}`}
      />
    </Labelled>
  )
}

/** A labelled text of several lines. */
export function TextArea({
  label,
  hint,
  error,
  className = '',
  ...props
}: ComponentProps<'textarea'> & Labels) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        rows={4}
        {...props}
        id={id}
        {...describe(id, { label, hint, error })}
        className={`py-2 ${control} ${className}`}
      />
    </Labelled>
  )
}

/** The classes of a select or an input whose label is not shown. */
export const bareControlClass = `h-9 px-2.5 ${controlClass}`

/** A labelled choice of one, by the browser's own list: it works with every keyboard, reader and phone. */
export function SelectField({
  label,
  hint,
  error,
  className = '',
  children,
  ...props
}: ComponentProps<'select'> & Labels) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <select
        {...props}
        id={id}
        {...describe(id, { label, hint, error })}
        className={`h-9 cursor-pointer ${control} ${className}`}
      >
        {children}
      </select>
    </Labelled>
  )
}

export const checkboxClass = 'size-4 shrink-0 cursor-pointer accent-accent disabled:cursor-not-allowed'

/** A box to tick, with its label beside it. */
export function Checkbox({
  label,
  hint,
  className = '',
  ...props
}: Omit<ComponentProps<'input'>, 'type'> & { label: ReactNode; hint?: ReactNode }) {
  const id = useId()
  return (
    <div className={`grid grid-cols-[auto_1fr] items-start gap-x-2.5 ${className}`}>
      <input
        {...props}
        type="checkbox"
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className={`mt-0.5 ${checkboxClass}`}
      />
      <label htmlFor={id} className="cursor-pointer text-sm">
        {label}
      </label>
      {hint && (
        <p id={`${id}-hint`} className="col-start-2 m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
