import { useId } from 'react'

/** A setting that is on or off, with a sentence about what it does. */
export function Switch(props: {
  label: string
  text?: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  busy?: boolean
  /** Why it cannot be changed. */
  disabledBecause?: string | undefined
}) {
  const id = useId()
  const { disabledBecause } = props
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <p id={`${id}-label`} className="m-0 text-sm font-medium">
          {props.label}
        </p>
        {props.text && (
          <p id={`${id}-text`} className="m-0 mt-0.5 max-w-2xl text-sm text-muted">
            {props.text}
          </p>
        )}
      </div>
      <button
        type="button"
        role="switch"
        aria-checked={props.isOn}
        aria-labelledby={`${id}-label`}
        aria-describedby={props.text ? `${id}-text` : undefined}
        aria-busy={props.busy || undefined}
        title={disabledBecause}
        disabled={props.busy || disabledBecause !== undefined}
        onClick={() => props.onChange(!props.isOn)}
        className="relative mt-0.5 h-6 w-10 shrink-0 cursor-pointer rounded-full border border-muted bg-raised transition-colors disabled:cursor-not-allowed disabled:opacity-60 aria-checked:border-accent aria-checked:bg-accent motion-reduce:transition-none"
      >
        <span
          aria-hidden="true"
          className={`absolute top-1 size-3.5 rounded-full transition-[left] motion-reduce:transition-none ${props.isOn ? 'left-5 bg-on-accent' : 'left-1 bg-muted'}`}
        />
      </button>
    </div>
  )
}
