import { ChevronLeft } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'

/** Shows the title in the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Dock`
    return () => {
      document.title = 'Dock'
    }
  }, [title])
}

/**
 * A page with its heading. `actions` stand beside the heading; `wide` is for tables with many columns. Every page begins at
 * the same place, so that nothing jumps from one page to the next.
 */
export function Page(props: {
  title: string
  /** One sentence about what the page is for. */
  text?: ReactNode
  /** A link to the page above. */
  back?: ReactNode
  /** Beside the heading: what it is, and its state. */
  badges?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}) {
  useTitle(props.title)
  return (
    <main
      className={`mx-auto grid max-w-7xl gap-5 p-4 md:px-8 md:py-7 min-[2000px]:max-w-[108rem] ${props.wide ? 'grid-cols-[minmax(0,1fr)]' : 'grid-cols-[minmax(0,60rem)]'}`}
    >
      <header className="grid gap-1">
        {props.back && (
          <div className="flex items-center gap-1 text-sm text-muted [&_a]:rounded-sm [&_a]:hover:text-ink [&_a]:hover:underline">
            <ChevronLeft size={14} aria-hidden="true" className="-ml-0.5 shrink-0" />
            <span className="min-w-0">{props.back}</span>
          </div>
        )}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <div className="mr-auto flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="m-0 min-w-0 text-xl font-semibold">
              <bdi>{props.title}</bdi>
            </h1>
            {props.badges}
          </div>
          {props.actions && (
            <div className="flex max-w-full flex-wrap items-center gap-2">{props.actions}</div>
          )}
        </div>
        {props.text && <p className="m-0 max-w-2xl text-sm text-muted">{props.text}</p>}
      </header>
      {props.children}
    </main>
  )
}

/** A part of a page in a box of its own. */
export function Panel(props: {
  title?: ReactNode
  text?: ReactNode
  actions?: ReactNode
  /** What is lost here cannot be had back. */
  danger?: boolean
  children?: ReactNode
}) {
  return (
    <section
      aria-label={typeof props.title === 'string' ? props.title : undefined}
      className={`grid grid-cols-[minmax(0,1fr)] gap-4 rounded-lg border bg-panel p-4 shadow-raised md:p-5 ${props.danger ? 'border-bad/40' : 'border-line'}`}
    >
      {(props.title || props.actions) && (
        <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
          <div className="mr-auto min-w-0">
            <h2 className="m-0 text-base font-semibold">{props.title}</h2>
            {props.text && <p className="m-0 mt-0.5 max-w-2xl text-sm text-muted">{props.text}</p>}
          </div>
          {props.actions && <div className="flex flex-wrap items-center gap-2">{props.actions}</div>}
        </div>
      )}
      {props.children}
    </section>
  )
}

/** Names and what they stand for, one below the other on narrow screens. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="m-0 grid gap-x-6 gap-y-1 text-sm sm:grid-cols-[max-content_minmax(0,1fr)] sm:gap-y-2">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="m-0 mb-1.5 min-w-0 sm:mb-0">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
