import { DockApiError } from '@dock/sdk'
import { ErrorAlert } from './alert.tsx'
import { Empty } from './empty.tsx'

/** Says why the list of a workspace cannot be shown. `isKnown`: the person is in the workspace of the address. */
export function WorkspaceError({ error, isKnown }: { error: Error; isKnown: boolean }) {
  if (isKnown || !(error instanceof DockApiError && error.status === 404)) return <ErrorAlert error={error} />
  return (
    <Empty
      title="There is no such workspace"
      text="It was deleted, or you are not a member of its organization. Choose another one above."
    />
  )
}
