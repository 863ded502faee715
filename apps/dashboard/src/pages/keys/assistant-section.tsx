import type { DeviceSignIn } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { assistantQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { showError, showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'

/** The person's subscription of a hosted assistant, which is connected by a code. */
export function AssistantSection() {
  const client = useQueryClient()
  const { data, error } = useQuery(assistantQuery)
  const { busy, run } = useAction()
  const [signIn, setSignIn] = useState<DeviceSignIn>()

  useEffect(() => {
    if (!signIn) return
    const timer = setInterval(() => {
      api.call('pollDeviceSignIn').then(
        ({ state }) => {
          if (state !== 'connected') return
          setSignIn(undefined)
          showToast('Connected')
          void client.invalidateQueries({ queryKey: ['assistant'] })
        },
        (failure: unknown) => {
          setSignIn(undefined)
          showError(failure)
        },
      )
    }, signIn.intervalSeconds * 1000)
    return () => clearInterval(timer)
  }, [signIn, client])

  return (
    <Panel
      title="ChatGPT subscription"
      text="Docks that you make can use it for coding assistants, without a provider key."
      actions={
        data?.connected ? (
          <Button
            look="danger"
            busy={busy !== undefined}
            onClick={() =>
              run('disconnect', async () => {
                await api.call('deleteAssistantConnection')
                await client.invalidateQueries({ queryKey: ['assistant'] })
              })
            }
          >
            Disconnect
          </Button>
        ) : (
          <Button
            busy={busy !== undefined || signIn !== undefined}
            onClick={() => run('connect', async () => setSignIn(await api.call('startDeviceSignIn')))}
          >
            Connect
          </Button>
        )
      }
    >
      {!data && <Pending error={error} />}
      {data?.connected && (
        <p className="m-0 flex flex-wrap items-center gap-2 text-sm">
          {data.email}
          <Badge tone={data.status === 'active' ? 'good' : 'wait'}>{data.status}</Badge>
        </p>
      )}
      {data && !data.connected && !signIn && <p className="m-0 text-sm text-muted">Not connected.</p>}
      {signIn && (
        <div className="grid gap-3">
          <p className="m-0 text-sm">
            Open{' '}
            <a
              href={/^https:/.test(signIn.verificationUrl) ? signIn.verificationUrl : undefined}
              target="_blank"
              rel="noreferrer"
              className="text-accent underline"
            >
              {signIn.verificationUrl}
            </a>{' '}
            and enter this code. This page goes on by itself.
          </p>
          <CopyLine label="Code" text={signIn.userCode} />
        </div>
      )}
    </Panel>
  )
}
