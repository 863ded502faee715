import { Dialog } from 'radix-ui'
import { Navigation } from './navigation.tsx'

/** The navigation of narrow screens. `opener` gets the focus back. */
export function Drawer(props: { opener: HTMLElement | null; onClose: () => void; onPalette: () => void }) {
  const { opener, onClose, onPalette } = props
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 animate-appear bg-black/50 md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={() => opener?.focus()}
          className="fixed inset-y-0 left-0 z-20 flex w-[min(17rem,85vw)] animate-slide-in flex-col border-r border-line bg-panel md:hidden"
        >
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <Navigation
            onPalette={() => {
              onClose()
              onPalette()
            }}
          />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
