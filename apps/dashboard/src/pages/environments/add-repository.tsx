import type { Environment } from '@dock/sdk'
import { repositoryIdLengthMax } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Field, TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { type GitProvider, providerNames } from './provider-names.ts'

/** Adds a repository by its name, with a branch and a setup script. */
export function AddRepository(props: { environment: Environment; open: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [provider, setProvider] = useState<GitProvider>('github')
  const add = async (form: FormData): Promise<void> => {
    const fullName = textIn(form, 'fullName')
    const baseBranch = textIn(form, 'baseBranch')
    const setupScript = textIn(form, 'setupScript').replaceAll('\r\n', '\n')
    await api.call('addEnvironmentRepository', {
      params: { ref: props.environment.id },
      body: {
        provider,
        // Two repositories are the same if their ids are; by hand, nobody knows the number at the provider.
        repositoryId: `${provider}:${fullName.toLowerCase()}`.slice(0, 128),
        fullName,
        ...(baseBranch ? { baseBranch } : {}),
        ...(setupScript ? { setupScript } : {}),
      },
    })
    await client.invalidateQueries({ queryKey: ['environment'] })
  }
  return (
    <FormDialog
      title="Add a repository"
      action="Add repository"
      open={props.open}
      onClose={props.onClose}
      onSubmit={add}
    >
      <OptionSelect
        label="Provider"
        value={provider}
        options={(['github', 'gitlab'] as const).map((value) => ({ value, label: providerNames[value] }))}
        onChange={setProvider}
      />
      <Field
        label="Repository"
        name="fullName"
        placeholder={provider === 'github' ? 'owner/name' : 'group/name'}
        autoComplete="off"
        spellCheck={false}
        required
      />
      <Field
        label="Branch"
        name="baseBranch"
        hint="Empty for the repository's default branch"
        maxLength={repositoryIdLengthMax}
        autoComplete="off"
        spellCheck={false}
      />
      <TextArea
        spellCheck={false}
        className="font-mono"
        label="Setup script"
        name="setupScript"
        hint="Runs in the clone when a Dock is made. Its output is in the Dock."
        placeholder="npm ci"
      />
    </FormDialog>
  )
}
