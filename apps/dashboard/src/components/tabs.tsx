import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'

/** The classes of a link or button in a row of tabs. The chosen one has `aria-current` or `aria-selected`. */
export const tabClass =
  'shrink-0 border-b-2 border-transparent px-3 py-2 text-sm text-muted transition-colors hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink'

/** A row of links to the parts of a page. Their part stays in the address. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const row = useRef<HTMLElement>(null)
  // On a narrow page the row scrolls, and fades where there is more. The chosen link is kept in view, without scrolling the page.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-current=page]')
    if (row.current && chosen) row.current.scrollLeft = chosen.offsetLeft - row.current.offsetLeft - 24
  })
  return (
    <nav
      ref={row}
      aria-label={label}
      className="-mb-px flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line max-md:pr-8 max-md:[mask-image:linear-gradient(to_right,black_calc(100%-2.5rem),transparent)]"
    >
      {children}
    </nav>
  )
}

/** A choice of one of a few, all in view. */
export function Segments<Value extends string>(props: {
  label: string
  value: Value
  options: readonly { value: Value; label: ReactNode; title?: string }[]
  onChange: (value: Value) => void
  className?: string
}) {
  return (
    <fieldset
      aria-label={props.label}
      className={`m-0 inline-flex min-w-0 rounded-md border border-line bg-panel p-0.5 ${props.className ?? ''}`}
    >
      {props.options.map(({ value, label, title }) => (
        <SegmentButton
          key={value}
          title={title}
          aria-label={title}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {label}
        </SegmentButton>
      ))}
    </fieldset>
  )
}

function SegmentButton(props: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...props}
      className="inline-flex h-7.5 flex-1 cursor-pointer items-center justify-center gap-1.5 whitespace-nowrap rounded px-2.5 text-sm text-muted transition-colors hover:text-ink aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink"
    />
  )
}
