import { Switch as Radix } from 'radix-ui'
import { type ReactNode, useId } from 'react'

/** Turns something on or off at once. `hint` says what that means. */
export function Switch(props: {
  label: ReactNode
  hint?: ReactNode
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <label htmlFor={id} className="cursor-pointer text-sm font-medium">
          {props.label}
        </label>
        {props.hint && (
          <p id={`${id}-hint`} className="m-0 text-xs text-muted">
            {props.hint}
          </p>
        )}
      </div>
      <Radix.Root
        id={id}
        checked={props.checked}
        disabled={props.disabled}
        onCheckedChange={props.onChange}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        className="h-5.5 w-10 shrink-0 cursor-pointer rounded-full bg-control p-0.5 transition-colors disabled:cursor-not-allowed disabled:opacity-60 data-[state=checked]:bg-accent"
      >
        <Radix.Thumb className="block size-4.5 rounded-full bg-panel shadow-raised transition-transform data-[state=checked]:translate-x-4.5" />
      </Radix.Root>
    </div>
  )
}
