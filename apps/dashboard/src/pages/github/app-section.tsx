import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { githubAppQuery } from '../../api/github-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { OutsideLink } from '../../components/outside-link.tsx'
import { Facts, Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'
import { webAddress } from '../../lib/web-address.ts'

/** Sends the browser to GitHub with the manifest. GitHub shows the App, makes it, and leads back to /github/app. */
const sendManifest = async (owner: string): Promise<void> => {
  const { url, manifest } = await api.call('createGithubManifest', { body: owner ? { owner } : {} })
  const action = webAddress(url)
  if (!action) throw new Error('The service returned no address of GitHub.')
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'manifest'
  field.value = manifest
  form.append(field)
  document.body.append(form)
  form.submit()
}

/** The GitHub App of the instance. For instance admins. */
export function AppSection() {
  const { data: app, error } = useQuery(githubAppQuery)
  const client = useQueryClient()
  const [asks, setAsks] = useState(false)
  if (!app) return <Pending error={error} />
  if (!app.configured) return <NewApp />
  const name = app.slug ?? ''
  return (
    <Panel title="The App of this instance" text="All workspaces use it. Everybody mentions it by its name.">
      <Facts
        facts={[
          [
            'Name',
            <code key="name" className="font-mono text-xs">
              @{name}
            </code>,
          ],
          [
            'At GitHub',
            <OutsideLink key="page" to={app.url}>
              {app.url ?? '–'}
            </OutsideLink>,
          ],
          ['Made by', app.source === 'settings' ? 'the settings of the operator' : 'the button on this page'],
          ['Links repositories', app.oauthConfigured ? 'yes' : 'no: its client id and secret are not set'],
        ]}
      />
      {app.source === 'manifest' && (
        <Button look="danger" className="justify-self-start" onClick={() => setAsks(true)}>
          Forget the App
        </Button>
      )}
      <ConfirmDialog
        title="Forget the App?"
        description="Every repository of every workspace is unlinked, and all Runs are stopped. Its key is deleted here. The App stays at GitHub until you delete it there."
        name={name}
        action="Forget"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api.call('deleteGithubApp')
          await client.invalidateQueries()
        }}
      />
    </Panel>
  )
}

function NewApp() {
  const { busy, error, run } = useFormAction()
  return (
    <Panel
      title="Make the GitHub App"
      text="Runs need one App for this instance. GitHub shows you what it may do, makes it, and leads you back. Its key is stored sealed."
    >
      <Form
        className="grid max-w-md gap-4"
        onSubmit={(fields) => {
          const owner = textIn(fields, 'owner')
          run(() => sendManifest(owner))
        }}
      >
        <Field
          label="Organization at GitHub"
          name="owner"
          hint="Who owns the App. Empty: you."
          pattern="[A-Za-z0-9]([A-Za-z0-9\-]{0,38})"
          autoComplete="off"
        />
        {error !== undefined && <ErrorAlert error={error} />}
        <Button type="submit" look="primary" busy={busy} className="justify-self-start">
          Make the App at GitHub
        </Button>
      </Form>
    </Panel>
  )
}
