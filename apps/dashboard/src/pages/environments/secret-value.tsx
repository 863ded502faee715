import { Button } from '../../components/button.tsx'
import { copyText } from '../../lib/copy-text.ts'

/** A revealed value, as text of any length and kind. */
export function SecretValue({ name, value }: { name: string; value: string }) {
  return (
    <div className="mt-1 flex items-start gap-2">
      <pre className="m-0 max-h-48 min-w-0 flex-1 overflow-auto rounded border border-line bg-raised px-2 py-1 font-mono text-xs break-all whitespace-pre-wrap text-ink">
        {value === '' ? '(empty)' : value}
      </pre>
      <Button
        look="quiet"
        className="h-7"
        aria-label={`Copy the value of ${name}`}
        onClick={() => copyText(value)}
      >
        Copy
      </Button>
    </div>
  )
}
