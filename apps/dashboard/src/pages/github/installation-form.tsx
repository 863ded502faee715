import type { Installation, InstallationSettings } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { environmentsQuery } from '../../api/people-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Checkbox, Field, SelectField, TextArea } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { useFormAction } from '../../lib/use-form-action.ts'

const agents = [
  ['opencode', 'opencode'],
  ['claude-code', 'Claude Code'],
  ['codex', 'Codex'],
  ['command', 'a command of yours'],
] as const
type Agent = (typeof agents)[number][0]

const orNull = (text: string): string | null => text || null

/** Returns what the form says about the Runs. The service says what it does not take. */
const settingsOf = (form: FormData): InstallationSettings => ({
  executionTarget: textIn(form, 'target') === 'fast' ? 'fast' : 'dock',
  environmentId: orNull(textIn(form, 'environment')),
  budgetCents: Math.round(Number(form.get('budget')) * 100),
  timeoutSeconds: Math.round(Number(form.get('timeout')) * 60),
  label: orNull(textIn(form, 'label')),
  model: orNull(textIn(form, 'model')),
  commandTemplate: orNull(textIn(form, 'command')),
  allowWorkflowFiles: form.has('workflows'),
})

/** How the Runs of an installation work. */
export function InstallationForm(props: {
  installation: Installation
  settings: InstallationSettings
  organizationId: string
  isAdmin: boolean
}) {
  const { installation, settings, organizationId, isAdmin } = props
  const client = useQueryClient()
  const environments = useQuery(environmentsQuery(organizationId))
  const { busy, error, run } = useFormAction()
  const [agent, setAgent] = useState(installation.agent)
  const at = { params: { id: installation.id }, query: { workspaceId: installation.workspaceId } }
  const save = async (form: FormData): Promise<void> => {
    await api.call('updateInstallationSettings', { ...at, body: settingsOf(form) })
    await api.call('updateInstallation', {
      ...at,
      body: { agent: textIn(form, 'agent') as Agent, testCommand: orNull(textIn(form, 'tests')) },
    })
    await client.invalidateQueries({ queryKey: ['installation'] })
  }
  return (
    <Form onSubmit={(fields) => run(() => save(fields), 'Saved')}>
      <fieldset disabled={!isAdmin} className="m-0 grid min-w-0 gap-4 border-0 p-0">
        <Panel
          title="Agent"
          text="Who works on the issues. Agents other than a command of yours need a model, whose key the organization has and its Environment passes on."
        >
          <SelectField
            label="Agent"
            name="agent"
            value={agent}
            onChange={({ target }) => setAgent(target.value)}
          >
            {agents.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectField>
          <div hidden={agent === 'command'}>
            <Field
              label="Model"
              name="model"
              defaultValue={settings.model ?? ''}
              maxLength={128}
              placeholder="the agent's own choice"
              autoComplete="off"
            />
          </div>
          <div hidden={agent !== 'command'}>
            <TextArea
              className="resize-y font-mono text-xs leading-5"
              spellCheck={false}
              label="Command"
              name="command"
              defaultValue={settings.commandTemplate ?? ''}
              required={agent === 'command'}
              hint="Runs with bash in the clone. It reads the task from its standard input, as JSON."
            />
          </div>
          <TextArea
            rows={2}
            className="resize-y font-mono text-xs leading-5"
            spellCheck={false}
            label="Test command"
            name="tests"
            defaultValue={installation.testCommand ?? ''}
            placeholder="npm ci && npm test"
            hint="Runs after the agent. If it fails, the draft says so."
          />
        </Panel>
        <Panel title="Machine" text="Where the agent works, and what its machine gets.">
          <SelectField label="Target" name="target" defaultValue={settings.executionTarget}>
            <option value="dock">Dock: an ordinary Dock, kept for an hour</option>
            <option value="fast">Fast: a warm sandbox without a Dock</option>
          </SelectField>
          <SelectField
            // The list of Environments comes later than the settings.
            key={environments.data?.length ?? 0}
            label="Environment"
            name="environment"
            defaultValue={settings.environmentId ?? ''}
          >
            <option value="">The default of the organization</option>
            {environments.data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        </Panel>
        <Panel
          title="Limits"
          text="A Run that reaches one of them fails. A Run that has begun keeps its own."
        >
          <div className="grid gap-3 sm:grid-cols-2">
            <Field
              label="Budget in US dollars"
              name="budget"
              type="number"
              min={0.01}
              max={10_000}
              step={0.01}
              required
              defaultValue={settings.budgetCents / 100}
              hint="For all turns of a Run together, by list prices."
            />
            <Field
              label="Timeout in minutes"
              name="timeout"
              type="number"
              min={1}
              max={360}
              step="any"
              required
              defaultValue={settings.timeoutSeconds / 60}
              hint="For each turn of the agent."
            />
          </div>
        </Panel>
        <Panel title="Triggers" text="A mention by a person who may write always starts a Run.">
          <Field
            label="Label"
            name="label"
            defaultValue={settings.label ?? ''}
            maxLength={50}
            placeholder="none"
            autoComplete="off"
            hint="Starts a Run when somebody who may write puts it on an issue."
          />
          <Checkbox
            label="Agents may change workflow files"
            name="workflows"
            defaultChecked={settings.allowWorkflowFiles}
            hint="Workflows run with secrets of the repository. Leave this off unless you review every draft before they run."
          />
        </Panel>
        {error !== undefined && <ErrorAlert error={error} />}
        {isAdmin ? (
          <Button type="submit" look="primary" busy={busy} className="justify-self-start">
            Save
          </Button>
        ) : (
          <p className="m-0 text-sm text-muted">Only admins change these.</p>
        )}
      </fieldset>
    </Form>
  )
}
