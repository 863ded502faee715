import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { foundDocksQuery } from '../../../api/queries.ts'

const waits: Partial<Record<DockInfo['state'], string>> = {
  provisioning: 'A host prepares its disk…',
  provisioned: 'Its machine boots…',
  cloning: 'Its repositories are cloned…',
  error: 'It failed to start.',
}

/** What the create waits for. The Dock is in the list under its name as soon as a host was chosen. */
export function CreateProgress({ name }: { name: string }) {
  const found = useQuery({ ...foundDocksQuery(undefined, name, 5), enabled: name !== '' })
  const dock = found.data?.find((each) => each.name === name)
  const text = dock ? (waits[dock.state] ?? 'Its setup begins…') : 'Waiting for a host…'
  return (
    <p role="status" className="m-0 text-sm text-muted">
      {text}
    </p>
  )
}
