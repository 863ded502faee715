import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useReturnFocus } from './return-focus.ts'

const widths = { narrow: 'w-[min(30rem,calc(100vw-2rem))]', wide: 'w-[min(48rem,calc(100vw-2rem))]' } as const

/** A modal dialog. Escape and the backdrop close it; the focus returns to what opened it. */
export function Dialog(props: {
  title: string
  description?: string
  open: boolean
  onClose: () => void
  width?: keyof typeof widths
  children: ReactNode
}) {
  const focus = useReturnFocus()
  return (
    <Radix.Root open={props.open} onOpenChange={(open) => open || props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-20 animate-appear bg-black/50" />
        <Radix.Content
          {...(props.description ? {} : { 'aria-describedby': undefined })}
          {...focus}
          className={`fixed top-1/2 left-1/2 z-20 grid max-h-[90dvh] -translate-x-1/2 -translate-y-1/2 animate-appear grid-cols-[minmax(0,1fr)] gap-4 overflow-auto rounded-xl border border-line bg-panel p-5 shadow-float ${widths[props.width ?? 'narrow']}`}
        >
          <div>
            <Radix.Title className="m-0 text-base font-semibold">{props.title}</Radix.Title>
            {props.description && (
              <Radix.Description className="m-0 mt-1 text-sm text-muted">
                {props.description}
              </Radix.Description>
            )}
          </div>
          {props.children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2">{children}</div>
}
