import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { Button } from './button.tsx'

type LaterPart<Props> = ComponentType<Props> & {
  /** Begins to load the code. */
  preload(): void
}

const reloadKey = 'dock:part-reload'
const reloadAgainAfterMs = 60_000

/** Returns true if the page may load itself again now. It must not do so over and over. */
const mayReload = (): boolean => {
  try {
    const now = Date.now()
    if (now - Number(sessionStorage.getItem(reloadKey)) < reloadAgainAfterMs) return false
    sessionStorage.setItem(reloadKey, String(now))
    return true
  } catch {
    return false
  }
}

/**
 * A part of a page whose code is loaded when it is first shown. Browsers remember a module that could not be loaded until the
 * page is loaded again, so the page does that once by itself, and then asks the person. `over` is for parts that stand over
 * the page, and would be closed by that.
 */
export function laterPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { over = false, waiting = null }: { over?: boolean; waiting?: ReactNode } = {},
): LaterPart<Props> {
  let loaded: ComponentType<Props> | undefined
  let loading: Promise<void> | undefined
  const begin = (): Promise<void> => {
    loading ??= load().then((part) => {
      loaded = part
    })
    return loading
  }

  const Later = (props: Props) => {
    const [state, setState] = useState<'waiting' | 'failed' | 'loaded'>(loaded ? 'loaded' : 'waiting')
    useEffect(() => {
      let isShown = true
      begin().then(
        () => isShown && setState('loaded'),
        () => {
          if (!isShown) return
          if (!over && mayReload()) location.reload()
          else setState('failed')
        },
      )
      return () => {
        isShown = false
      }
    }, [])
    if (state === 'loaded' && loaded) {
      const Part = loaded
      return <Part {...props} />
    }
    return state === 'failed' ? <NotLoaded over={over} /> : waiting
  }
  Later.preload = () => void begin().catch(() => undefined)
  return Later
}

/** Says that code could not be loaded. */
function NotLoaded({ over }: { over: boolean }) {
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-3 rounded-md border border-bad/40 bg-soft-bad px-3.5 py-2.5 text-sm ${over ? 'fixed inset-x-4 bottom-4 z-40 mx-auto max-w-xl shadow-float' : ''}`}
    >
      <p className="m-0 mr-auto min-w-0">
        This part of the page could not be loaded. The connection broke, or the service was updated meanwhile.
      </p>
      <Button size="small" onClick={() => location.reload()}>
        Try again
      </Button>
    </div>
  )
}
