import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Section } from '../../components/section.tsx'
import { showError } from '../../components/toasts.tsx'
import { EditAsText } from './edit-as-text.tsx'
import { FileRows } from './file-rows.tsx'
import type { TabProps } from './tab-props.ts'
import { useSecrets } from './use-secrets.ts'
import { VariableRows } from './variable-rows.tsx'

/** Variables and secret files by name. Admins change them, and may look at them for a moment. */
export function ContentsTab({ environment, isAdmin }: TabProps) {
  const { secrets, reveal, hide } = useSecrets(environment.id, environment.currentVersion)
  const [busy, setBusy] = useState(false)
  const [editsText, setEditsText] = useState(false)
  const hasContents = environment.varNames.length + environment.files.length > 0
  const show = async (): Promise<void> => {
    setBusy(true)
    try {
      await reveal()
    } catch (error) {
      showError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Section
        title="Secrets"
        text={
          isAdmin
            ? 'Values are stored sealed. They are shown for a minute at most, and each change makes a new version.'
            : 'You see the names. Only admins see and change the values.'
        }
        actions={
          isAdmin && (
            <div className="flex flex-wrap gap-2">
              {secrets ? (
                <Button onClick={hide}>Hide values</Button>
              ) : (
                <Button busy={busy} disabled={!hasContents} onClick={() => void show()}>
                  Reveal values
                </Button>
              )}
              <Button onClick={() => setEditsText(true)}>Edit as text</Button>
            </div>
          )
        }
      />
      <VariableRows environment={environment} isAdmin={isAdmin} values={secrets?.variables} />
      <FileRows environment={environment} isAdmin={isAdmin} values={secrets?.files} />
      {isAdmin && (
        <EditAsText environment={environment} open={editsText} onClose={() => setEditsText(false)} />
      )}
    </>
  )
}
