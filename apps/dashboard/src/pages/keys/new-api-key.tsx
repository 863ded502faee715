import { nameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { OptionSelect } from '../../components/option-select.tsx'

const lives = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: 'never', label: 'It does not expire' },
] as const

const dayMs = 86_400_000

/** Makes an API key, and shows it once: it is only in the state of this component while the dialog is open. */
export function NewApiKey({ open, onClose }: { open: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [life, setLife] = useState<(typeof lives)[number]['value']>('90')
  const [made, setMade] = useState<{ name: string; apiKey: string }>()
  const make = async (form: FormData): Promise<void> => {
    const expiresAt = new Date(Date.now() + Number(life) * dayMs)
    const { name, apiKey } = await api.call('createApiKey', {
      body: {
        name: textIn(form, 'name'),
        ...(life === 'never' ? {} : { expiresAt: expiresAt.toISOString() }),
      },
    })
    setMade({ name, apiKey })
    await client.invalidateQueries({ queryKey: ['api-key'] })
  }
  return (
    <>
      <FormDialog
        title="New API key"
        action="Make key"
        open={open && made === undefined}
        onClose={onClose}
        onSubmit={make}
      >
        <Field
          label="Name"
          name="name"
          hint="Where it is used, so that you know it later"
          maxLength={nameLengthMax}
          autoComplete="off"
          required
        />
        <OptionSelect label="Expires after" value={life} options={lives} onChange={setLife} />
      </FormDialog>
      <Dialog
        title={`Your key ${made?.name ?? ''}`}
        description="Copy it now. It is shown only this once; the service keeps nothing from which it could be read."
        open={made !== undefined}
        onClose={() => setMade(undefined)}
      >
        <CopyLine label="API key" text={made?.apiKey ?? ''} />
        <div className="flex justify-end">
          <Button look="primary" onClick={() => setMade(undefined)}>
            I have copied it
          </Button>
        </div>
      </Dialog>
    </>
  )
}
