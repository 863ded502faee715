import type { ReactNode } from 'react'

const tones = { plain: 'text-muted', good: 'text-good', wait: 'text-wait', bad: 'text-bad' } as const

/** A short word beside a name. */
export function Badge({ tone = 'plain', children }: { tone?: keyof typeof tones; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded-full border border-line bg-raised px-2 py-0.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {children}
    </span>
  )
}
