import type { LoginConnection } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, authenticate } from '../../api/client.ts'
import { connectionsQuery } from '../../api/people-queries.ts'
import { configQuery } from '../../api/queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { leavePage } from '../../lib/leave-page.ts'
import { useAction } from '../../lib/use-action.ts'
import { AssistantSection } from './assistant-section.tsx'

const names: Readonly<Record<string, string>> = {
  credential: 'Email and password',
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
}
const nameOf = (provider: string): string => names[provider] ?? provider

/** Accounts with which the person signs in, and through which Docks reach repositories. */
export function ConnectionsTab() {
  const client = useQueryClient()
  const connections = useQuery(connectionsQuery)
  const config = useQuery(configQuery)
  const { busy, run } = useAction()
  const [removed, setRemoved] = useState<LoginConnection>()
  const connected = new Set(connections.data?.map(({ provider }) => provider))
  const offered = (config.data?.authProviders ?? []).filter(
    (provider) => provider !== 'credential' && !connected.has(provider),
  )
  const connect = async (provider: string): Promise<void> => {
    const here = '/keys?tab=connections'
    const { url } = await authenticate('/link-social', {
      provider,
      callbackURL: here,
      errorCallbackURL: here,
    })
    if (typeof url === 'string' && /^https?:/.test(url)) await leavePage(url)
  }
  return (
    <>
      <Panel
        title="Connected accounts"
        text="You can sign in with each of them. GitHub and GitLab also let the Docks of Environments to which you added a repository clone and push it."
      >
        {!connections.data && <Pending error={connections.error} />}
        {connections.data && (
          <Rows label="Connected accounts">
            {connections.data.map((connection) => (
              <Row
                key={connection.id}
                title={
                  <>
                    {nameOf(connection.provider)}
                    {connection.primary && <Badge>stays</Badge>}
                  </>
                }
                text={
                  <>
                    {connection.identifier} · linked <RelativeTime at={connection.linkedAt} />
                  </>
                }
              >
                {!connection.primary && (
                  <Button
                    look="danger"
                    aria-label={`Disconnect ${nameOf(connection.provider)}`}
                    onClick={() => setRemoved(connection)}
                  >
                    Disconnect
                  </Button>
                )}
              </Row>
            ))}
            {offered.map((provider) => (
              <Row key={provider} title={nameOf(provider)} text="not connected">
                <Button
                  busy={busy === provider}
                  aria-label={`Connect ${nameOf(provider)}`}
                  onClick={() => run(provider, () => connect(provider))}
                >
                  Connect
                </Button>
              </Row>
            ))}
          </Rows>
        )}
        {config.data?.authProviders.every((provider) => provider === 'credential') && (
          <p className="m-0 text-sm text-muted">
            The operator of this instance has set up no other way to sign in.
          </p>
        )}
        <ConfirmDialog
          title={`Disconnect ${nameOf(removed?.provider ?? '')}?`}
          description="You can no longer sign in with it, and Docks lose the access to repositories that it gave them."
          name={nameOf(removed?.provider ?? '')}
          action="Disconnect"
          open={removed !== undefined}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await api.call('removeConnection', { params: { id: removed?.id ?? '' } })
            await client.invalidateQueries({ queryKey: ['connection'] })
          }}
        />
      </Panel>
      {config.data?.chatgptSignIn && <AssistantSection />}
    </>
  )
}
