import { fromLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { imagesQuery, templatesQuery } from '../../../api/dock-queries.ts'
import { Field, SelectField } from '../../../components/field.tsx'
import type { CreateForm } from './create-form-state.ts'
import type { FieldErrors } from './field-error.ts'

/** Chooses an image or a Template. */
export function SourceFields(props: {
  form: CreateForm
  organizationId: string | undefined
  errors: FieldErrors
  onChange: (part: Partial<CreateForm>) => void
}) {
  const { form, onChange } = props
  const images = useQuery(imagesQuery)
  const templates = useQuery(templatesQuery)
  const names = useId()
  const known = templates.data?.filter(
    ({ organizationId, status }) => organizationId === props.organizationId && status === 'ready',
  )
  return (
    <>
      <SelectField
        label="Start from"
        value={form.source}
        onChange={({ target }) => onChange({ source: target.value === 'from' ? 'from' : 'image' })}
      >
        <option value="image">An image</option>
        <option value="from">A Template</option>
      </SelectField>
      {form.source === 'image' ? (
        <SelectField
          label="Image"
          value={form.image}
          error={props.errors.image}
          onChange={({ target }) => onChange({ image: target.value })}
        >
          <option value="">The default image</option>
          {images.data?.map(({ name, available }) => (
            <option key={name} value={name}>
              {available ? name : `${name} (no host has it yet)`}
            </option>
          ))}
        </SelectField>
      ) : (
        <>
          <Field
            label="Template"
            list={names}
            required
            value={form.from}
            error={props.errors.from}
            maxLength={fromLengthMax}
            autoComplete="off"
            onChange={({ target }) => onChange({ from: target.value })}
          />
          <datalist id={names}>
            {known?.map(({ id, name }) => (
              <option key={id} value={name} />
            ))}
          </datalist>
        </>
      )}
    </>
  )
}
