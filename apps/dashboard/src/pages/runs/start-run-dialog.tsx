import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { installationsQuery } from '../../api/github-queries.ts'
import { Field, SelectField, TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { visibleName } from '../../lib/visible-text.ts'

/** Starts a Run by hand. Mount it to open it. `again` repeats the work on an issue. */
export function StartRunDialog(props: {
  workspaceId: string
  again?: { repo: string; issueNumber: number }
  onClose: () => void
}) {
  const { workspaceId, again, onClose } = props
  const navigate = useNavigate()
  const { data } = useQuery(installationsQuery(workspaceId))
  // One key for this dialog: a second click after a lost connection starts no second Run.
  const [key] = useState(() => crypto.randomUUID())
  const repos = (data ?? []).flatMap((each) => each.repos).toSorted()
  const start = async (form: FormData): Promise<void> => {
    const { id } = await api.call('startRun', {
      body: {
        workspaceId,
        repo: again?.repo ?? textIn(form, 'repo'),
        issueNumber: again?.issueNumber ?? Number(form.get('issue')),
        instruction: textIn(form, 'instruction'),
      },
      headers: { 'idempotency-key': key },
    })
    await navigate({ to: '/runs/$id', params: { id } })
  }
  return (
    <FormDialog
      title={again ? 'Retry as a new Run' : 'Start a Run'}
      description={
        again
          ? `It works on issue ${again.issueNumber} of ${visibleName(again.repo)} as it stands now.`
          : 'An agent works on an issue of a linked repository, and opens a draft pull request.'
      }
      action="Start"
      open
      onClose={onClose}
      onSubmit={start}
    >
      {!again && (
        <>
          <SelectField label="Repository" name="repo" required>
            {repos.map((repo) => (
              <option key={repo} value={repo}>
                {visibleName(repo)}
              </option>
            ))}
          </SelectField>
          <Field label="Issue number" name="issue" type="number" min={1} step={1} required />
        </>
      )}
      <TextArea
        label="Instruction"
        name="instruction"
        hint="What the agent shall do. Empty: what the issue says."
        maxLength={20_000}
      />
    </FormDialog>
  )
}
