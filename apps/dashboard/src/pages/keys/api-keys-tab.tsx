import type { ApiKey } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime, useNow } from '../../components/time.tsx'
import { LastUsed } from './last-used.tsx'
import { NewApiKey } from './new-api-key.tsx'

/** The person's API keys: make, and revoke. */
export function ApiKeysTab() {
  const client = useQueryClient()
  const keys = useQuery(apiKeysQuery)
  const now = useNow()
  const [makes, setMakes] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
  const hasEnded = ({ revokedAt, expiresAt }: ApiKey): boolean =>
    revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)
  const usable = keys.data?.filter((key) => !hasEnded(key)) ?? []
  const ended = keys.data?.filter(hasEnded) ?? []
  return (
    <>
      <Panel
        title="API keys"
        text="For programs and the command line. A key has all your rights, in all your organizations. At most 20 work at a time."
        actions={
          <Button look="primary" onClick={() => setMakes(true)}>
            New API key
          </Button>
        }
      >
        {!keys.data && <Pending error={keys.error} />}
        {keys.data && usable.length === 0 && (
          <Empty
            title="No API keys"
            text="Make one to use the API, an SDK or the command line as yourself."
          />
        )}
        {usable.length > 0 && (
          <Rows label="API keys">
            {usable.map((key) => (
              <Row
                key={key.id}
                title={key.name}
                text={
                  <>
                    <span className="font-mono">{key.keyPrefix}…</span> · made{' '}
                    <RelativeTime at={key.createdAt} /> · <LastUsed at={key.lastUsedAt} /> ·{' '}
                    {key.expiresAt === null ? (
                      'does not expire'
                    ) : (
                      <>
                        expires <RelativeTime at={key.expiresAt} />
                      </>
                    )}
                  </>
                }
              >
                <Button look="danger" aria-label={`Revoke ${key.name}`} onClick={() => setRevoked(key)}>
                  Revoke
                </Button>
              </Row>
            ))}
          </Rows>
        )}
      </Panel>
      {ended.length > 0 && (
        <Panel title="No longer in use">
          <Rows label="Ended API keys">
            {ended.map((key) => (
              <Row
                key={key.id}
                title={
                  <>
                    <span className="text-muted">{key.name}</span>
                    <Badge>{key.revokedAt === null ? 'expired' : 'revoked'}</Badge>
                  </>
                }
                text={
                  <>
                    <span className="font-mono">{key.keyPrefix}…</span> · <LastUsed at={key.lastUsedAt} />
                  </>
                }
              />
            ))}
          </Rows>
        </Panel>
      )}
      <NewApiKey open={makes} onClose={() => setMakes(false)} />
      <ConfirmDialog
        title={`Revoke ${revoked?.name ?? ''}?`}
        description="Programs that use this key are refused from now on. This cannot be undone."
        name={revoked?.name ?? ''}
        action="Revoke"
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        onConfirm={async () => {
          await api.call('revokeApiKey', { params: { id: revoked?.id ?? '' } })
          await client.invalidateQueries({ queryKey: ['api-key'] })
        }}
      />
    </>
  )
}
