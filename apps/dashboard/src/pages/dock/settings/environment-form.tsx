import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, repeatIfBroken } from '../../../api/client.ts'
import { listedDockQuery } from '../../../api/dock-queries.ts'
import { environmentsQuery } from '../../../api/people-queries.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { SelectField } from '../../../components/field.tsx'
import { Form } from '../../../components/form.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

const none = ''

/** Shows the Dock's Environment and its version, upgrades it, and changes it with the next resume. */
export function EnvironmentForm({ dock }: { dock: DockInfo }) {
  const { id } = dock
  const listed = useQuery(listedDockQuery(id))
  const organizationId = listed.data?.organizationId
  const all = useQuery({
    ...environmentsQuery(organizationId ?? ''),
    enabled: organizationId !== undefined,
  })
  const { busy, error, run } = useFormAction()
  const [chosen, setChosen] = useState<string>()
  const version = listed.data?.environmentVersion
  const current = all.data?.find((each) => each.id === listed.data?.environmentId)
  const isOld = current !== undefined && typeof version === 'number' && version < current.currentVersion
  const value = chosen ?? listed.data?.environmentId ?? none
  return (
    <div className="grid max-w-md gap-4">
      <p className="m-0 text-sm">
        {current ? (
          <>
            <strong className="font-medium">{current.name}</strong>, version {version ?? '–'}
            {isOld ? ` of ${current.currentVersion}` : ', the current one'}
          </>
        ) : (
          <span className="text-muted">{listed.isPending ? 'Loading…' : 'No Environment'}</span>
        )}
      </p>
      {isOld && (
        <div>
          <Button
            busy={busy}
            onClick={() =>
              run(
                () =>
                  api.call('upgradeEnvironment', { params: { ref: current.id }, body: { dockIds: [id] } }),
                'The upgrade has begun',
              )
            }
          >
            Upgrade to version {current.currentVersion}
          </Button>
        </div>
      )}
      {dock.state === 'archived' && all.data && (
        <Form
          className="grid gap-3"
          onSubmit={() => {
            const body = value === none ? { noEnv: true } : { environment: value }
            run(() => repeatIfBroken(() => api.call('resumeDock', { params: { id }, body })))
          }}
        >
          <SelectField label="Environment" value={value} onChange={({ target }) => setChosen(target.value)}>
            <option value={none}>None</option>
            {all.data.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </SelectField>
          <div>
            <Button type="submit" busy={busy} disabled={value === (listed.data?.environmentId ?? none)}>
              Resume with this Environment
            </Button>
          </div>
        </Form>
      )}
      {dock.state !== 'archived' && (
        <p className="m-0 text-sm text-muted">Stop the Dock to give it another Environment.</p>
      )}
      {error !== undefined && <ErrorAlert error={error} />}
    </div>
  )
}
