import { useId } from 'react'

/** A setting that is on or off, with a sentence about what it does. */
export function Switch(props: {
  label: string
  hint?: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <p id={`${id}-label`} className="m-0 text-sm font-medium">
          {props.label}
        </p>
        {props.hint && (
          <p id={`${id}-hint`} className="m-0 mt-0.5 max-w-2xl text-sm text-muted">
            {props.hint}
          </p>
        )}
      </div>
      <button
        type="button"
        role="switch"
        aria-checked={props.checked}
        aria-labelledby={`${id}-label`}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        disabled={props.disabled}
        onClick={() => props.onChange(!props.checked)}
        className="relative mt-0.5 h-6 w-10 shrink-0 cursor-pointer rounded-full border border-muted bg-raised transition-colors disabled:cursor-not-allowed disabled:opacity-60 aria-checked:border-accent aria-checked:bg-accent motion-reduce:transition-none"
      >
        <span
          aria-hidden="true"
          className={`absolute top-1 size-3.5 rounded-full transition-[left] motion-reduce:transition-none ${props.checked ? 'left-5 bg-on-accent' : 'left-1 bg-muted'}`}
        />
      </button>
    </div>
  )
}
