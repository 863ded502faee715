import { Dialog } from 'radix-ui'
import { useReturnFocus } from '../../components/return-focus.ts'
import { Navigation } from './navigation.tsx'

/** The navigation of narrow screens. */
export function Drawer({ onClose, onPalette }: { onClose: () => void; onPalette: () => void }) {
  const focus = useReturnFocus()
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 animate-appear bg-black/50 md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focus}
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
