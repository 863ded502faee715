import { copyText } from '../lib/copy-text.ts'
import { Button } from './button.tsx'
import { SourceText } from './source-text.tsx'

/** Lines of code with a button that copies them. */
export function CopyBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className="relative">
      <SourceText label={label} text={text} className="field-sizing-content max-h-80 pr-20" />
      <Button
        look="quiet"
        className="absolute top-1 right-1 h-7"
        aria-label={`Copy: ${label}`}
        onClick={() => copyText(text)}
      >
        Copy
      </Button>
    </div>
  )
}
