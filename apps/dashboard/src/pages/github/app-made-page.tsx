import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Page } from '../../components/page.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'
import { useOnce } from '../../lib/use-once.ts'

const route = getRouteApi('/shell/github/app')

/** Where GitHub sends the browser when it has made the App. */
export function AppMadePage() {
  const { code, state } = route.useSearch()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { error, run } = useFormAction()
  const isWhole = code !== undefined && state !== undefined
  const takeOver = async (): Promise<void> => {
    if (!isWhole) return
    await api.call('createGithubApp', { body: { code, state } })
    await client.invalidateQueries({ queryKey: ['config'] })
    await client.invalidateQueries({ queryKey: ['github-app'] })
    showToast('The instance has its GitHub App')
    await navigate({ to: '/github', search: {}, replace: true })
  }
  useOnce(() => run(takeOver))
  return (
    <Page
      title="Take over the GitHub App"
      back={
        <Link to="/github" search={{}}>
          GitHub
        </Link>
      }
    >
      {error !== undefined && <ErrorAlert error={error} />}
      {isWhole ? (
        error === undefined && <p className="m-0 text-sm text-muted">Reading the key of the App…</p>
      ) : (
        <Notice tone="wait">GitHub sends you here with a code. Make the App on the page GitHub.</Notice>
      )}
    </Page>
  )
}
