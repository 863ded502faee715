import type { ReactNode } from 'react'

const tones = {
  neutral: 'bg-raised text-muted',
  accent: 'bg-soft-accent text-accent',
  good: 'bg-soft-good text-good',
  wait: 'bg-soft-wait text-wait',
  bad: 'bg-soft-bad text-bad',
} as const
export type Tone = keyof typeof tones

/** A word about an object: its state, its role. The colour repeats what the word says. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex max-w-full items-center gap-1 truncate rounded-full px-2 py-0.5 text-xs font-medium ${tones[tone]}`}
    >
      {children}
    </span>
  )
}
