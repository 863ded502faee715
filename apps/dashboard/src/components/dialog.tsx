import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** A modal dialog. Escape and the backdrop close it; the focus returns to what opened it. */
export function Dialog(props: {
  title: string
  description?: string
  open: boolean
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Radix.Root open={props.open} onOpenChange={(open) => open || props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 bg-black/50" />
        <Radix.Content
          {...(props.description ? {} : { 'aria-describedby': undefined })}
          className="fixed top-1/2 left-1/2 grid max-h-[90vh] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 gap-4 overflow-auto rounded-lg border border-line bg-panel p-5 shadow-xl"
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
