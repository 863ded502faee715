import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { preferencesQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Switch } from '../../components/switch.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { useAction } from '../../lib/use-action.ts'
import { alertTexts } from './alert-texts.ts'

/** Which alerts exist for the organization, and which of them also come by mail to the person. */
export function Preferences() {
  const { organization, hasNone } = useCurrentOrganization()
  if (hasNone) return <NoOrganization subject="Alerts" />
  if (!organization) return <Skeleton />
  return (
    <Chosen
      organizationId={organization.id}
      name={organization.name}
      mayChange={organization.role !== 'member'}
    />
  )
}

function Chosen(props: { organizationId: string; name: string; mayChange: boolean }) {
  const { organizationId, mayChange } = props
  const client = useQueryClient()
  const { data, error } = useQuery(preferencesQuery(organizationId))
  const { busy, run } = useAction()
  const change = (work: () => Promise<unknown>) =>
    run('change', async () => {
      await work()
      await client.invalidateQueries({ queryKey: ['notification', 'preferences'] })
    })
  if (error) return <ErrorAlert error={error} />
  if (!data) return <Skeleton />
  return (
    <>
      <Panel title="By mail" text="Alerts that also come to your own address. Your inbox shows all of them.">
        {data.preferences.map(({ type, emailEnabled, enabled }) => (
          <Switch
            key={type}
            label={alertTexts[type].title}
            hint={enabled ? alertTexts[type].text : 'Off for the organization.'}
            checked={emailEnabled}
            disabled={busy !== undefined}
            onChange={(on) =>
              change(() =>
                api.call('setPersonalNotificationPreference', { body: { type, emailEnabled: on } }),
              )
            }
          />
        ))}
      </Panel>
      <Panel
        title={`For everybody in ${props.name}`}
        text={
          mayChange
            ? 'An alert that is off here is sent to nobody.'
            : 'Admins decide which alerts are sent at all.'
        }
      >
        {data.preferences.map(({ type, enabled }) => (
          <Switch
            key={type}
            label={alertTexts[type].title}
            checked={enabled}
            disabled={!mayChange || busy !== undefined}
            onChange={(on) =>
              change(() =>
                api.call('setOrganizationNotificationPreference', {
                  body: { organizationId, type, enabled: on },
                }),
              )
            }
          />
        ))}
      </Panel>
    </>
  )
}
