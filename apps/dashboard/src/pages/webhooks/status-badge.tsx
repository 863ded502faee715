import { Badge } from '../../components/badge.tsx'

/** The status of a receiver's answer: good if the event was taken. */
export function StatusBadge({ status }: { status: number | null }) {
  const isTaken = status !== null && status >= 200 && status < 300
  return <Badge tone={isTaken ? 'good' : 'bad'}>{status ?? 'no answer'}</Badge>
}
