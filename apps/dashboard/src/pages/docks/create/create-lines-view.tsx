import { useState } from 'react'
import { CopyBlock } from '../../../components/copy-block.tsx'
import { type CreateBody, cliLine, curlLine, sdkLine } from './create-lines.ts'

const kinds = [
  { name: 'Command line', write: cliLine },
  { name: 'curl', write: (body: CreateBody) => curlLine(location.origin, body) },
  { name: 'SDK', write: sdkLine },
] as const

/** The same Dock without this page. */
export function CreateLines({ body }: { body: CreateBody }) {
  const [shown, setShown] = useState(0)
  const { name, write } = kinds[shown]!
  return (
    <section aria-label="The same without this page" className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="m-0 text-sm font-semibold">The same without this page</h2>
        <fieldset aria-label="Kind of line" className="m-0 flex rounded-md border border-line bg-panel p-0.5">
          {kinds.map((kind, at) => (
            <button
              key={kind.name}
              type="button"
              aria-pressed={at === shown}
              onClick={() => setShown(at)}
              className="h-8 cursor-pointer rounded px-2.5 text-sm aria-pressed:bg-raised aria-pressed:font-medium"
            >
              {kind.name}
            </button>
          ))}
        </fieldset>
      </div>
      <CopyBlock label={name} text={write(body)} />
    </section>
  )
}
