import { Field } from './field.tsx'

/** Sizes as they are typed. */
export type SizeText = { cpus: string; memoryMiB: string; diskGiB: string }

/** The size of a Dock. The service says what it does not take. */
export function SizeFields(props: {
  value: SizeText
  disabled?: boolean
  onChange: (value: SizeText) => void
}) {
  const field = (key: keyof SizeText, label: string, hint: string, min: number, step: number) => (
    <Field
      label={label}
      hint={hint}
      type="number"
      required
      min={min}
      step={step}
      value={props.value[key]}
      disabled={props.disabled}
      onChange={({ target }) => props.onChange({ ...props.value, [key]: target.value })}
    />
  )
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      {field('cpus', 'CPUs', '1 to 64', 1, 1)}
      {field('memoryMiB', 'Memory in MiB', '512 to 262144', 512, 1)}
      {field('diskGiB', 'Disk in GiB', '1 to 2048', 1, 1)}
    </div>
  )
}

export function sizesOf({ cpus, memoryMiB, diskGiB }: SizeText) {
  return { cpus: Number(cpus), memoryMiB: Number(memoryMiB), diskGiB: Number(diskGiB) }
}
