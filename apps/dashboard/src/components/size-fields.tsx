import { sizes } from '@dock/sdk/dashboard-rules'
import { formatBytes } from '../lib/format.ts'
import { Field } from './field.tsx'

/** Sizes as they are typed. */
export type SizeText = { cpus: string; memoryMiB: string; diskGiB: string }
type Size = { [Key in keyof SizeText]: number }
/** What is wrong with each size, if something is. */
export type SizeErrors = { readonly [Key in keyof SizeText]?: string | undefined }

const amountOf = (key: keyof SizeText, value: number): string => {
  if (key === 'cpus') return String(value)
  return formatBytes(value * (key === 'memoryMiB' ? 2 ** 20 : 2 ** 30))
}

const mostOf = (key: keyof SizeText, largest: Size | null | undefined): number =>
  Math.min(sizes[key].max, largest?.[key] ?? sizes[key].max)

/** Returns what is wrong with the sizes as they are typed. `largest` is the largest Dock that a host here can run. */
export function sizeErrorsOf(value: SizeText, largest: Size | null | undefined): SizeErrors {
  const errorOf = (key: keyof SizeText): string | undefined => {
    const number = Number(value[key])
    const most = mostOf(key, largest)
    if (value[key].trim() === '' || !Number.isInteger(number)) return 'Write a whole number.'
    if (number < sizes[key].min) return `At least ${amountOf(key, sizes[key].min)}.`
    if (number <= most) return undefined
    return most < sizes[key].max
      ? `No host here has more than ${amountOf(key, most)}.`
      : `At most ${amountOf(key, most)}.`
  }
  return { cpus: errorOf('cpus'), memoryMiB: errorOf('memoryMiB'), diskGiB: errorOf('diskGiB') }
}

const presets = [
  ['Small', { cpus: 1, memoryMiB: 1024, diskGiB: 10 }],
  ['Medium', { cpus: 2, memoryMiB: 4096, diskGiB: 20 }],
  ['Large', { cpus: 4, memoryMiB: 8192, diskGiB: 40 }],
  ['Extra large', { cpus: 8, memoryMiB: 16_384, diskGiB: 80 }],
] as const satisfies readonly (readonly [string, Size])[]

const keys = ['cpus', 'memoryMiB', 'diskGiB'] as const

/** Sizes that a host here can run, to choose with one click. */
export function SizePresets(props: {
  value: SizeText
  largest: Size | null | undefined
  onChange: (value: SizeText) => void
}) {
  const fitting = presets.filter(([, size]) => keys.every((key) => size[key] <= mostOf(key, props.largest)))
  return (
    <fieldset aria-label="Sizes" className="m-0 grid min-w-0 grid-cols-2 gap-2 sm:grid-cols-4">
      {fitting.map(([label, size]) => (
        <button
          key={label}
          type="button"
          aria-pressed={keys.every((key) => Number(props.value[key]) === size[key])}
          onClick={() =>
            props.onChange({
              cpus: String(size.cpus),
              memoryMiB: String(size.memoryMiB),
              diskGiB: String(size.diskGiB),
            })
          }
          className="cursor-pointer rounded-md border border-line bg-panel px-3 py-2 text-left text-sm font-medium transition-colors hover:bg-raised aria-pressed:border-accent aria-pressed:bg-raised"
        >
          {label}
          <span className="block text-xs font-normal text-muted">
            {size.cpus === 1 ? '1 CPU' : `${size.cpus} CPUs`} · {amountOf('memoryMiB', size.memoryMiB)} ·{' '}
            {amountOf('diskGiB', size.diskGiB)} disk
          </span>
        </button>
      ))}
    </fieldset>
  )
}

/** The size of a Dock. `largest` is the largest that a host here can run. */
export function SizeFields(props: {
  value: SizeText
  largest?: Size | null | undefined
  errors?: SizeErrors | undefined
  disabled?: boolean
  onChange: (value: SizeText) => void
}) {
  const field = (key: keyof SizeText, label: string) => {
    const most = mostOf(key, props.largest)
    return (
      <Field
        label={label}
        hint={`${amountOf(key, sizes[key].min)} to ${amountOf(key, most)}`}
        error={props.errors?.[key]}
        type="number"
        required
        min={sizes[key].min}
        max={most}
        value={props.value[key]}
        disabled={props.disabled}
        onChange={({ target }) => props.onChange({ ...props.value, [key]: target.value })}
      />
    )
  }
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
