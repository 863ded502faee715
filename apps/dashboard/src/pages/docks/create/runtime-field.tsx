import { SelectField } from '../../../components/field.tsx'
import type { CreateForm } from './create-form-state.ts'

/** Chooses what runs the Dock. Shown only where hosts of several runtimes are online. */
export function RuntimeField(props: {
  value: CreateForm['runtime']
  onChange: (value: CreateForm['runtime']) => void
}) {
  return (
    <SelectField
      label="Runtime"
      hint="A disk boots only under the runtime that it was made under."
      value={props.value}
      onChange={({ target }) => props.onChange(target.value as CreateForm['runtime'])}
    >
      <option value="">The host decides</option>
      <option value="gvisor">gVisor: starts fast, takes little memory</option>
      <option value="microvm">microVM: a Linux kernel of its own</option>
    </SelectField>
  )
}
