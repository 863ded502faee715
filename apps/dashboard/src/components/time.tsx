import { useEffect, useState } from 'react'
import { formatExact, formatRelative } from '../lib/format.ts'

/** Returns the time, again every `everyMs`. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** A relative time, with the exact one on hover. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelative(at, now)}
    </time>
  )
}
