const rowsMax = 32

/** Text that is read only. A text area scrolls with the keyboard, and its text cannot become markup. */
export function SourceText({
  label,
  text,
  className = '',
}: {
  label: string
  text: string
  className?: string
}) {
  return (
    <textarea
      readOnly
      spellCheck={false}
      dir="ltr"
      aria-label={label}
      value={text}
      rows={Math.min(rowsMax, text.split('\n', rowsMax).length + 1)}
      className={`w-full resize-y rounded-lg border border-line bg-panel p-3 font-mono text-xs leading-5 ${className}`}
    />
  )
}
