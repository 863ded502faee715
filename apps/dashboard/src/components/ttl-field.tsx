import { ttlSeconds } from '@dock/sdk/dashboard-rules'
import { useId } from 'react'
import { formatSpan } from '../lib/format.ts'
import { type TtlText, type TtlUnit, ttlUnits } from '../lib/ttl.ts'
import { bareControlClass } from './field.tsx'

/** Chooses after which time a Dock stops by itself. Empty: never. */
export function TtlField(props: { value: TtlText; onChange: (value: TtlText) => void }) {
  const id = useId()
  const { amount, unit } = props.value
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        Stop by itself after
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          inputMode="decimal"
          pattern="[0-9]+([.][0-9]+)?"
          placeholder="never"
          value={amount}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => props.onChange({ amount: target.value, unit })}
          className={`w-28 ${bareControlClass}`}
        />
        <select
          aria-label="Unit of time"
          value={unit}
          onChange={({ target }) => props.onChange({ amount, unit: target.value as TtlUnit })}
          className={`cursor-pointer ${bareControlClass}`}
        >
          {Object.keys(ttlUnits).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <p id={`${id}-hint`} className="m-0 text-xs text-muted">
        {formatSpan(ttlSeconds.min * 1000)} to {formatSpan(ttlSeconds.max * 1000)}, counted from when it is
        ready. Its disk is kept.
      </p>
    </div>
  )
}
