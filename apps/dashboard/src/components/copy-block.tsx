import { Button } from './button.tsx'
import { SourceText } from './source-text.tsx'
import { showToast } from './toasts.tsx'

/** Lines of code with a button that copies them. */
export function CopyBlock({ label, text }: { label: string; text: string }) {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    showToast('Copied')
  }
  return (
    <div className="relative">
      <SourceText label={label} text={text} className="pr-20" />
      <Button
        look="quiet"
        className="absolute top-1 right-1 h-7"
        aria-label={`Copy: ${label}`}
        onClick={() => void copy()}
      >
        Copy
      </Button>
    </div>
  )
}
