import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { useAction } from '../../lib/use-action.ts'
import { EditAsText } from './edit-as-text.tsx'
import { FileRows } from './file-rows.tsx'
import type { TabProps } from './tab-props.ts'
import { useSecrets } from './use-secrets.ts'
import { VariableRows } from './variable-rows.tsx'

/** Variables and secret files by name. Admins change them, and may look at them for a moment. */
export function ContentsTab({ environment, isAdmin }: TabProps) {
  const { secrets, reveal, hide } = useSecrets(environment.id, environment.currentVersion)
  const { busy, run } = useAction()
  const [editsText, setEditsText] = useState(false)
  const hasContents = environment.varNames.length + environment.files.length > 0
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="m-0 min-w-0 flex-1 basis-64 text-sm text-muted">
          {isAdmin
            ? 'Values are stored sealed. They are shown for a minute at most. Each change makes a new version.'
            : 'You see the names. Only admins see and change the values.'}
        </p>
        {isAdmin && (
          <div className="flex flex-wrap gap-2">
            {secrets ? (
              <Button onClick={hide}>Hide values</Button>
            ) : (
              <Button busy={busy !== undefined} disabled={!hasContents} onClick={() => run('reveal', reveal)}>
                Reveal values
              </Button>
            )}
            <Button onClick={() => setEditsText(true)}>Edit as text</Button>
          </div>
        )}
      </div>
      <VariableRows environment={environment} isAdmin={isAdmin} values={secrets?.variables} />
      <FileRows environment={environment} isAdmin={isAdmin} values={secrets?.files} />
      {isAdmin && (
        <EditAsText environment={environment} open={editsText} onClose={() => setEditsText(false)} />
      )}
    </>
  )
}
