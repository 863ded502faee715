import type { ReactNode } from 'react'
import { stepsTo } from '../../lib/dock-path.ts'
import { visibleName } from '../../lib/visible-text.ts'

/** The folders that lead to a path, each as a link that `link` makes. */
export function PathSteps(props: { path: string; link: (path: string, children: ReactNode) => ReactNode }) {
  const steps = stepsTo(props.path)
  return (
    <nav aria-label="Path" className="min-w-0 flex-1 overflow-hidden">
      <ol className="m-0 flex list-none flex-wrap items-center gap-x-1 gap-y-0.5 p-0 font-mono text-sm">
        {steps.map((step, at) => (
          <li key={step.path} className="flex min-w-0 max-w-full items-center gap-1">
            {at > 1 && <span className="text-muted">/</span>}
            {at === steps.length - 1 ? (
              <bdi aria-current="page" className="truncate">
                {visibleName(step.name)}
              </bdi>
            ) : (
              // Wide enough for a finger, also the slash of the root.
              props.link(
                step.path,
                <bdi className="inline-block min-w-6 text-center leading-6">{visibleName(step.name)}</bdi>,
              )
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
