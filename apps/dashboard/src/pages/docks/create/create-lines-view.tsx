import { useState } from 'react'
import { CopyBlock } from '../../../components/copy-block.tsx'
import { Segments } from '../../../components/tabs.tsx'
import { cliLine, curlLine, type NewDock, sdkLine } from './create-lines.ts'

const kinds = [
  { name: 'Command line', write: cliLine },
  { name: 'curl', write: (dock: NewDock) => curlLine(location.origin, dock) },
  { name: 'SDK', write: sdkLine },
] as const

/** The same Dock without this page. */
export function CreateLines({ dock }: { dock: NewDock }) {
  const [shown, setShown] = useState<(typeof kinds)[number]['name']>('Command line')
  const { name, write } = kinds.find((kind) => kind.name === shown)!
  return (
    <section aria-label="The same without this page" className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="m-0 text-sm font-semibold">The same without this page</h2>
        <Segments
          label="Kind of line"
          value={shown}
          options={kinds.map(({ name }) => ({ value: name, label: name }))}
          onChange={setShown}
        />
      </div>
      <CopyBlock label={name} text={write(dock)} />
    </section>
  )
}
