import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** A short explanation on hover and focus. `children` is one element that takes the focus. */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={300}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={6}
            collisionPadding={8}
            className="z-30 max-w-72 animate-appear rounded-md bg-ink px-2.5 py-1.5 text-xs text-page shadow-float"
          >
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  )
}
