import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { loadPatiently } from '../lib/load-patiently.ts'
import { Button } from './button.tsx'

type LaterPart<Props> = ComponentType<Props> & {
  /** Begins to load the code. */
  preload(): void
}

/**
 * A part of a page whose code is loaded when it is first shown. If the code cannot be loaded, the part says so, and loads it
 * again when the person asks for it: `lazy` of React would fail until the page is loaded again. `over` is for parts that
 * stand over the page.
 */
export function laterPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { over = false, waiting = null }: { over?: boolean; waiting?: ReactNode } = {},
): LaterPart<Props> {
  let loaded: ComponentType<Props> | undefined
  let loading: Promise<void> | undefined
  const begin = (): Promise<void> => {
    loading ??= loadPatiently(load)
      .then((part) => {
        loaded = part
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }

  const Later = (props: Props) => {
    const [attempt, setAttempt] = useState(0)
    const [state, setState] = useState<'waiting' | 'failed' | 'loaded'>(loaded ? 'loaded' : 'waiting')
    // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again.
    useEffect(() => {
      if (loaded) return setState('loaded')
      let isShown = true
      setState('waiting')
      begin().then(
        () => isShown && setState('loaded'),
        () => isShown && setState('failed'),
      )
      return () => {
        isShown = false
      }
    }, [attempt])
    if (state === 'loaded' && loaded) {
      const Part = loaded
      return <Part {...props} />
    }
    if (state === 'failed') return <NotLoaded over={over} onRetry={() => setAttempt(attempt + 1)} />
    return waiting
  }
  Later.preload = () => {
    if (!loaded) begin().catch(() => undefined)
  }
  return Later
}

/** Says that code could not be loaded. A reload also helps pages that are older than the service. */
export function NotLoaded({ over = false, onRetry }: { over?: boolean; onRetry?: () => void }) {
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-3 rounded-md border border-bad/40 bg-soft-bad px-3.5 py-2.5 text-sm ${over ? 'fixed inset-x-4 bottom-4 z-40 mx-auto max-w-xl shadow-float' : ''}`}
    >
      <p className="m-0 mr-auto min-w-0">
        This part of the page could not be loaded. The connection broke, or the service was updated meanwhile.
      </p>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
      <Button size="small" onClick={() => location.reload()}>
        Reload the page
      </Button>
    </div>
  )
}
