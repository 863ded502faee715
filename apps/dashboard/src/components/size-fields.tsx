import { sizes } from '@dock/sdk/dashboard-rules'
import { Field } from './field.tsx'

/** Sizes as they are typed. */
export type SizeText = { cpus: string; memoryMiB: string; diskGiB: string }

/** The size of a Dock. The service says what it does not take. */
export function SizeFields(props: {
  value: SizeText
  disabled?: boolean
  onChange: (value: SizeText) => void
}) {
  const field = (key: keyof SizeText, label: string) => (
    <Field
      label={label}
      hint={`${sizes[key].min} to ${sizes[key].max}`}
      type="number"
      required
      min={sizes[key].min}
      max={sizes[key].max}
      value={props.value[key]}
      disabled={props.disabled}
      onChange={({ target }) => props.onChange({ ...props.value, [key]: target.value })}
    />
  )
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      {field('cpus', 'CPUs')}
      {field('memoryMiB', 'Memory in MiB')}
      {field('diskGiB', 'Disk in GiB')}
    </div>
  )
}

export function sizesOf({ cpus, memoryMiB, diskGiB }: SizeText) {
  return { cpus: Number(cpus), memoryMiB: Number(memoryMiB), diskGiB: Number(diskGiB) }
}
