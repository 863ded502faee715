import type { GithubChoices } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'
import { useOnce } from '../../lib/use-once.ts'
import { ChooseRepositories } from './choose-repositories.tsx'
import { workspaceOfLink } from './link-place.ts'
import { startLink } from './start-link.ts'

const route = getRouteApi('/shell/github/linked')

/** Where GitHub sends the browser when the person has agreed. Here they choose repositories. */
export function LinkedPage() {
  const { code, state, error: refusal } = route.useSearch()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { busy, error, run } = useFormAction()
  const [choices, setChoices] = useState<GithubChoices>()
  const workspaceId = state === undefined ? undefined : workspaceOfLink(state)
  const mayAsk = code !== undefined && state !== undefined && workspaceId !== undefined
  const authorise = async (): Promise<void> => {
    if (mayAsk) setChoices(await api.call('authorizeGithubLink', { body: { workspaceId, state, code } }))
  }
  useOnce(() => run(authorise))
  const startAgain = workspaceId && (
    <Button onClick={() => run(() => startLink(workspaceId))}>Look again</Button>
  )
  const link = async (repositoryIds: number[]): Promise<void> => {
    if (!choices || workspaceId === undefined) return
    await api.call('linkRepositories', {
      body: { workspaceId, selection: choices.selection, repositoryIds },
    })
    await client.invalidateQueries({ queryKey: ['installation'] })
    showToast('Linked')
    await navigate({ to: '/github', search: { workspace: workspaceId }, replace: true })
  }
  return (
    <Page
      title="Choose repositories"
      text="You see those that you administer and on which the App is installed."
      back={
        <Link to="/github" search={{ workspace: workspaceId }}>
          GitHub
        </Link>
      }
    >
      {error !== undefined && <ErrorAlert error={error} />}
      {error !== undefined && !choices && <div>{startAgain}</div>}
      {!mayAsk && (
        <Notice tone="wait">
          <p className="m-0">
            {refusal === undefined
              ? 'Linking was begun in another tab or browser, or is over. Start again.'
              : 'GitHub was not allowed to tell who you are, so nothing is linked.'}
          </p>
          <div>
            <Link to="/github" search={{}} className={buttonClass('plain', 'small')}>
              Back to GitHub
            </Link>
          </div>
        </Notice>
      )}
      {mayAsk && !choices && error === undefined && (
        <p className="m-0 text-sm text-muted">Asking GitHub what you administer…</p>
      )}
      {choices && workspaceId !== undefined && (
        <ChooseRepositories
          workspaceId={workspaceId}
          choices={choices}
          busy={busy}
          again={startAgain}
          onLink={(ids) => run(() => link(ids))}
        />
      )}
    </Page>
  )
}
