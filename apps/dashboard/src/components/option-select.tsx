import { type ComponentProps, useId } from 'react'
import { bareControlClass } from './field.tsx'

type Option<Value extends string> = { value: Value; label: string; disabled?: boolean }

/** A choice of the browser's own kind. `isLabelHidden` shows the label to screen readers only. */
export function OptionSelect<Value extends string>({
  label,
  isLabelHidden = false,
  hint,
  options,
  value,
  onChange,
  className = '',
  ...props
}: Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'children'> & {
  label: string
  isLabelHidden?: boolean
  hint?: string
  options: readonly Option<Value>[]
  value: Value
  onChange: (value: Value) => void
}) {
  const id = useId()
  return (
    <div className={`grid min-w-0 gap-1.5 ${className}`}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      <select
        {...props}
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ target }) => {
          const chosen = options.find((option) => option.value === target.value)
          if (chosen) onChange(chosen.value)
        }}
        className={`w-full min-w-0 cursor-pointer ${bareControlClass}`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-hint`} className="m-0 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
