import { nameLengthMax, webhookEventTypes } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogActions } from '../../components/dialog.tsx'
import { Checkbox, Field } from '../../components/field.tsx'

const texts: Readonly<Record<(typeof webhookEventTypes)[number], string>> = {
  'dock.ready': 'A Dock has booted and takes commands.',
  'dock.error': 'A Dock could not start, or could not start again.',
  'dock.archived': 'A Dock was stopped and its disk is kept.',
  'dock.hydrated': 'An archived Dock is resumed and ready again.',
}

/** Adds an endpoint. `onSecret` receives its signing secret. */
export function NewWebhookDialog(props: {
  organizationId: string
  open: boolean
  onClose: () => void
  onSecret: (secret: string) => void
}) {
  const client = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const create = async (form: FormData): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const { secret } = await api.call('createWebhookEndpoint', {
        body: {
          organizationId: props.organizationId,
          name: String(form.get('name')),
          url: String(form.get('url')),
          events: webhookEventTypes.filter((type) => form.has(type)),
        },
      })
      props.onClose()
      props.onSecret(secret)
      await client.invalidateQueries({ queryKey: ['webhook'] })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      title="New webhook"
      description="Dock sends signed events to this address."
      open={props.open}
      onClose={props.onClose}
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void create(new FormData(event.currentTarget))
        }}
      >
        <Field label="Name" name="name" required maxLength={nameLengthMax} />
        <Field
          label="Address"
          name="url"
          type="url"
          required
          placeholder="https://hooks.example.com/dock"
          hint="https on port 443. It must be reachable from the internet."
        />
        <fieldset className="m-0 grid gap-2 border-0 p-0">
          <legend className="mb-2 p-0 text-sm font-medium">Events</legend>
          {webhookEventTypes.map((type) => (
            <Checkbox
              key={type}
              name={type}
              label={<code className="font-mono text-xs">{type}</code>}
              hint={texts[type]}
              defaultChecked
            />
          ))}
        </fieldset>
        {error !== undefined && <ErrorAlert error={error} />}
        <DialogActions>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy}>
            Add webhook
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
