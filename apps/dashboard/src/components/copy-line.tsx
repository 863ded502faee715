import { Button } from './button.tsx'
import { showToast } from './toasts.tsx'

/** A line of code with a button that copies it. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    showToast('Copied')
  }
  return (
    <div className="grid gap-1">
      <span className="text-xs text-muted">{label}</span>
      <div className="flex items-center gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 overflow-x-auto whitespace-nowrap font-mono text-xs">{text}</code>
        <Button look="quiet" size="small" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
          Copy
        </Button>
      </div>
    </div>
  )
}
