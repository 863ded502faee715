import { copyText } from '../lib/copy-text.ts'
import { Button } from './button.tsx'

/** A line of code with a button that copies it. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <span className="text-xs text-muted">{label}</span>
      <div className="flex items-center gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-3">
        <code
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keyboard.
          tabIndex={0}
          className="min-w-0 flex-1 overflow-x-auto whitespace-nowrap font-mono text-xs"
        >
          {text}
        </code>
        <Button look="quiet" size="small" aria-label={`Copy: ${label}`} onClick={() => copyText(text)}>
          Copy
        </Button>
      </div>
    </div>
  )
}
