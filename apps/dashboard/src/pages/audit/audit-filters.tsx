import { auditKinds } from '@dock/sdk/audit-words'
import { bareControlClass } from '../../components/field.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import type { AuditSearch } from '../../routes/audit-search.ts'

/** A person whom the filter offers. */
export type Person = { id: string; name: string }

/** The kind of action, the person and the days. The address keeps them. */
export function AuditFilters(props: {
  search: AuditSearch
  people: readonly Person[]
  onChange: (part: AuditSearch) => void
}) {
  const { search, people, onChange } = props
  const kinds: [string, string][] = Object.entries(auditKinds)
  return (
    <div className="flex flex-wrap items-end gap-2">
      <OptionSelect
        label="Kind of action"
        isLabelHidden
        className="w-48"
        value={search.action ?? ''}
        options={[
          { value: '', label: 'All actions' },
          ...kinds.map(([value, label]) => ({ value, label })),
          // An address may name a single action.
          ...(search.action === undefined || search.action in auditKinds
            ? []
            : [{ value: search.action, label: search.action }]),
        ]}
        onChange={(action) => onChange({ action: action || undefined })}
      />
      <OptionSelect
        label="Person"
        isLabelHidden
        className="w-56"
        value={search.person ?? ''}
        options={[
          { value: '', label: 'Everybody' },
          ...people.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(person) => onChange({ person: person || undefined })}
      />
      <Day label="From" value={search.from} max={search.to} onChange={(from) => onChange({ from })} />
      <Day label="To" value={search.to} min={search.from} onChange={(to) => onChange({ to })} />
    </div>
  )
}

function Day(props: {
  label: string
  value: string | undefined
  min?: string | undefined
  max?: string | undefined
  onChange: (day: string | undefined) => void
}) {
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      {props.label}
      <input
        // While a day is typed, the address does not follow, and must not take back what is typed.
        key={props.value}
        type="date"
        defaultValue={props.value}
        min={props.min}
        max={props.max}
        onChange={({ target }) => {
          // A year that is being typed begins with zeros.
          if (target.value === '' || target.value > '1999') props.onChange(target.value || undefined)
        }}
        className={`text-ink ${bareControlClass}`}
      />
    </label>
  )
}
