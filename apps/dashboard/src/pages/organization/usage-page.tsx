import type { OrganizationLimits } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { limitsQuery } from '../../api/people-queries.ts'
import { Meter } from '../../components/meter.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { formatBytes } from '../../lib/format.ts'
import { MonthUsage } from './month-usage.tsx'
import { useOrganization } from './use-organization.ts'

type LimitName = keyof OrganizationLimits['limits']

const number = new Intl.NumberFormat()
const gib = (value: number): string => formatBytes(value * 1024 ** 3)
const mib = (value: number): string => formatBytes(value * 1024 ** 2)

const shown: readonly { name: LimitName; label: string; format: (value: number) => string }[] = [
  { name: 'docks', label: 'Docks that are on', format: number.format },
  { name: 'cpus', label: 'Their CPUs', format: number.format },
  { name: 'memoryMiB', label: 'Their memory', format: mib },
  { name: 'diskGiB', label: 'Their disks', format: gib },
  { name: 'storedGiB', label: 'Stored data', format: gib },
  { name: 'snapshots', label: 'Snapshots', format: number.format },
  { name: 'environments', label: 'Environments', format: number.format },
  { name: 'repositories', label: 'Repositories of one Environment', format: number.format },
  { name: 'templates', label: 'Templates', format: number.format },
  { name: 'workspaces', label: 'Workspaces', format: number.format },
]

/** What an organization uses now, beside its limits, and what it used in a month. */
export function UsagePage() {
  const { orgId } = useOrganization()
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7))
  const limits = useQuery(limitsQuery(orgId))
  return (
    <>
      <Panel
        title="Limits"
        text="What is used now. A request beyond a limit is refused and names it; nothing that exists is stopped. The operator of this instance sets the limits."
      >
        {limits.data ? (
          <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
            {shown.map(({ name, label, format }) => (
              <Meter
                key={name}
                label={label}
                value={limits.data.usage[name]}
                max={limits.data.limits[name]}
                text={`${format(limits.data.usage[name])} of ${format(limits.data.limits[name])}`}
              />
            ))}
          </div>
        ) : (
          <Pending error={limits.error} />
        )}
      </Panel>
      <MonthUsage orgId={orgId} month={month} onMonth={setMonth} />
    </>
  )
}
