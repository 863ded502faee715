import type { UsageDay } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { usageQuery } from '../../api/people-queries.ts'
import { OptionSelect } from '../../components/option-select.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'

type Amounts = Omit<UsageDay, 'day' | 'closed'>

const one = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const hour = 3600

const columns: readonly { name: string; text: (amounts: Amounts) => string }[] = [
  { name: 'CPU hours', text: ({ vcpuSeconds }) => one.format(vcpuSeconds / hour) },
  { name: 'Memory, GiB hours', text: ({ memoryMiBSeconds }) => one.format(memoryMiBSeconds / 1024 / hour) },
  { name: 'Disk, GiB hours', text: ({ diskGiBSeconds }) => one.format(diskGiBSeconds / hour) },
  {
    name: 'Snapshots, GiB hours',
    text: ({ snapshotMiBSeconds }) => one.format(snapshotMiBSeconds / 1024 / hour),
  },
]

/** Returns the last twelve months, newest first, as the API names them. */
const lastMonths = (): string[] => {
  const now = new Date()
  return Array.from({ length: 12 }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  )
}

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** What an organization used in a month, day by day, in UTC. */
export function MonthUsage(props: { orgId: string; month: string; onMonth: (month: string) => void }) {
  const usage = useQuery(usageQuery(props.orgId, props.month))
  const { currency } = usage.data ?? {}
  const all =
    currency === null || currency === undefined
      ? columns
      : [
          ...columns,
          {
            name: 'Cost',
            text: ({ costMicros }: Amounts) =>
              new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(costMicros / 1e6),
          },
        ]
  return (
    <Panel
      title="Usage"
      text="Counted by the day, in UTC. The figures of today still grow."
      actions={
        <OptionSelect
          label="Month"
          isLabelHidden
          className="w-44"
          value={props.month}
          options={lastMonths().map((value) => ({
            value,
            label: monthName.format(new Date(`${value}-01T00:00:00Z`)),
          }))}
          onChange={props.onMonth}
        />
      }
    >
      {!usage.data && <Pending error={usage.error} />}
      {usage.data?.days.length === 0 && (
        <p className="m-0 text-sm text-muted">Nothing was used in this month.</p>
      )}
      {usage.data && usage.data.days.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section aria-label="Usage by day" tabIndex={0} className="overflow-x-auto">
          <table className="w-full border-collapse text-sm tabular-nums">
            <thead>
              <tr className="border-b border-line text-left text-muted">
                <th scope="col" className="py-2 pr-4 font-medium">
                  Day
                </th>
                {all.map(({ name }) => (
                  <th key={name} scope="col" className="py-2 pl-4 text-right font-medium whitespace-nowrap">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {usage.data.days.toReversed().map((day) => (
                <tr key={day.day} className="border-b border-line">
                  <th scope="row" className="py-2 pr-4 text-left font-normal whitespace-nowrap">
                    {day.day}
                  </th>
                  {all.map(({ name, text }) => (
                    <td key={name} className="py-2 pl-4 text-right">
                      {text(day)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" className="py-2 pr-4 text-left font-semibold">
                  Month
                </th>
                {all.map(({ name, text }) => (
                  <td key={name} className="py-2 pl-4 text-right font-semibold">
                    {text(usage.data.total)}
                  </td>
                ))}
              </tr>
            </tfoot>
          </table>
        </section>
      )}
    </Panel>
  )
}
