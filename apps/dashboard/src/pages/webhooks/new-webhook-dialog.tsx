import { nameLengthMax, webhookEventTypes } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Checkbox, Field } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'

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
  const create = async (form: FormData): Promise<void> => {
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
    void client.invalidateQueries({ queryKey: ['webhook'] })
  }
  return (
    <FormDialog
      title="New webhook"
      description="Dock sends signed events to this address."
      action="Add webhook"
      open={props.open}
      onClose={props.onClose}
      onSubmit={create}
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
    </FormDialog>
  )
}
