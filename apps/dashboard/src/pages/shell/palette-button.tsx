import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { laterPart } from '../../components/later-part.tsx'

const Palette = laterPart(async () => (await import('./palette.tsx')).Palette, { over: true })

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** Opens the palette, as Ctrl-K (Cmd-K) does anywhere. Its code loads when it is first opened. */
export function usePalette() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(isMac ? event.metaKey : event.ctrlKey)) return
      if (event.altKey || event.shiftKey) return
      event.preventDefault()
      event.stopPropagation()
      setOpen((before) => !before)
    }
    // Before the terminal, which would send the key to the shell.
    addEventListener('keydown', listen, true)
    return () => removeEventListener('keydown', listen, true)
  }, [])
  return {
    open: () => setOpen(true),
    palette: isOpen && <Palette onClose={() => setOpen(false)} />,
  }
}

export function PaletteButton({ onOpen }: { onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      onPointerEnter={Palette.preload}
      className="flex h-9 w-full cursor-pointer items-center gap-2.5 rounded-md border border-line bg-page px-2.5 text-sm text-muted transition-colors hover:text-ink"
    >
      <Search size={15} aria-hidden="true" className="shrink-0" />
      Go to…
      <kbd className="ml-auto font-sans text-xs">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  )
}
