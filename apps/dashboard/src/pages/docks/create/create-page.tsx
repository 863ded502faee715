import { dockNameLengthMax, setupScriptLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api } from '../../../api/client.ts'
import { largestDockQuery, runtimesQuery } from '../../../api/dock-queries.ts'
import { environmentsQuery } from '../../../api/people-queries.ts'
import { useWorkspaces } from '../../../api/use-workspaces.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { Field, SelectField, TextArea } from '../../../components/field.tsx'
import { Page, Panel } from '../../../components/page.tsx'
import { SizeFields, SizePresets, sizeErrorsOf } from '../../../components/size-fields.tsx'
import { TtlField } from '../../../components/ttl-field.tsx'
import { useCurrentOrganization } from '../../../lib/current-organization.ts'
import { friendlyName } from '../../../lib/friendly-name.ts'
import { useFormAction } from '../../../lib/use-form-action.ts'
import { type CreateForm, emptyForm, newDockOf, readEnv } from './create-form-state.ts'
import { CreateLines } from './create-lines-view.tsx'
import { CreateProgress } from './create-progress.tsx'
import { fieldErrorOf } from './field-error.ts'
import { RuntimeField } from './runtime-field.tsx'
import { SourceFields } from './source-fields.tsx'

const route = getRouteApi('/shell/docks/new')

const envErrorOf = (text: string): Error | undefined => {
  try {
    readEnv(text)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Every field of a new Dock, and the lines that make the same one. */
export function CreatePage() {
  const { from, environment = emptyForm.environment } = route.useSearch()
  const navigate = useNavigate()
  const { organization } = useCurrentOrganization()
  const workspaces = useWorkspaces().filter(({ organizationId }) => organizationId === organization?.id)
  const [form, setForm] = useState<CreateForm>(() => ({
    ...emptyForm,
    name: friendlyName(),
    environment,
    ...(from === undefined ? {} : { source: 'from', from }),
  }))
  const { busy, error, run } = useFormAction()
  const set = (part: Partial<CreateForm>): void => setForm((before) => ({ ...before, ...part }))
  const workspace = workspaces.find(({ id }) => id === form.workspaceId) ?? workspaces[0]
  const environments = useQuery({
    ...environmentsQuery(workspace?.organizationId ?? ''),
    enabled: workspace !== undefined,
  })
  const largest = useQuery(largestDockQuery).data
  const isRuntimeOffered = (useQuery(runtimesQuery).data ?? []).length > 1 && form.source === 'image'
  const page = useRef<HTMLFormElement>(null)
  const envError = envErrorOf(form.env)
  const sizeErrors = sizeErrorsOf(form.size, largest)
  const refused = fieldErrorOf(error)
  const isWrong = envError !== undefined || Object.values(sizeErrors).some((each) => each !== undefined)
  const dock = newDockOf({
    ...form,
    workspaceId: workspace?.id ?? '',
    env: envError ? '' : form.env,
    runtime: isRuntimeOffered ? form.runtime : '',
  })
  const submit = (): void => {
    if (isWrong) page.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    else if (page.current?.reportValidity()) run(create)
  }
  const create = async (): Promise<void> => {
    const { body, runtime } = dock
    const headers: Record<string, string> = runtime === undefined ? {} : { 'x-dock-runtime': runtime }
    const { id } = await api.call('createDock', { body, headers })
    await navigate({ to: '/docks/$id', params: { id }, search: { tab: 'terminal' } })
  }
  return (
    <Page
      wide
      title="New Dock"
      back={
        <Link to="/" search={{}}>
          Docks
        </Link>
      }
    >
      <form
        className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_minmax(0,26rem)] min-[2000px]:grid-cols-[minmax(0,1fr)_minmax(0,36rem)]"
        ref={page}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <Panel title="Name and place" text="Everybody in the workspace's organization can use the Dock.">
            <Field
              label="Name"
              value={form.name}
              maxLength={dockNameLengthMax}
              autoComplete="off"
              error={refused.name}
              onChange={({ target }) => set({ name: target.value })}
            />
            <SelectField
              label="Workspace"
              value={workspace?.id ?? ''}
              onChange={({ target }) => set({ workspaceId: target.value, environment: 'default' })}
            >
              {workspaces.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </SelectField>
            {isRuntimeOffered && (
              <RuntimeField value={form.runtime} onChange={(runtime) => set({ runtime })} />
            )}
          </Panel>
          <Panel title="Disk" text="What its disk starts with.">
            <SourceFields
              form={form}
              organizationId={workspace?.organizationId}
              errors={refused}
              onChange={set}
            />
          </Panel>
          <Panel title="Size and timer" text="You can resize it later, while it is stopped.">
            <SizePresets value={form.size} largest={largest} onChange={(size) => set({ size })} />
            <SizeFields
              value={form.size}
              largest={largest}
              errors={{
                cpus: sizeErrors.cpus ?? refused.cpus,
                memoryMiB: sizeErrors.memoryMiB ?? refused.memoryMiB,
                diskGiB: sizeErrors.diskGiB ?? refused.diskGiB,
              }}
              onChange={(size) => set({ size })}
            />
            <TtlField value={form.ttl} onChange={(ttl) => set({ ttl })} />
          </Panel>
          <Panel
            title="Environment and variables"
            text="An Environment gives it variables, secret files and repositories. Variables below come on top of it."
          >
            <SelectField
              label="Environment"
              value={form.environment}
              onChange={({ target }) => set({ environment: target.value })}
            >
              <option value="default">The default of the organization</option>
              <option value="none">None</option>
              {environments.data?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            <TextArea
              className="resize-y font-mono text-xs leading-5"
              spellCheck={false}
              autoComplete="off"
              label="Variables"
              hint="NAME=VALUE, one a line."
              placeholder="NODE_ENV=development"
              value={form.env}
              error={envError?.message ?? refused.env}
              onChange={({ target }) => set({ env: target.value })}
            />
          </Panel>
          <Panel
            title="Setup script"
            text="Runs once with bash when the Dock has booted. The overview shows how it ended."
          >
            <TextArea
              className="resize-y font-mono text-xs leading-5"
              spellCheck={false}
              autoComplete="off"
              label="Script"
              placeholder="sudo apt-get install -y ripgrep"
              value={form.setupScript}
              maxLength={setupScriptLengthMax}
              error={refused.setupScript}
              onChange={({ target }) => set({ setupScript: target.value })}
            />
          </Panel>
          <div className="sticky bottom-0 z-10 -mx-1 grid gap-3 border-t border-line bg-page px-1 py-3">
            {error !== undefined && !Object.values(refused).some(Boolean) && <ErrorAlert error={error} />}
            <div className="flex flex-wrap items-center gap-3">
              <Button type="submit" look="primary" busy={busy} disabled={workspace === undefined}>
                Create
              </Button>
              {busy && <CreateProgress name={form.name} />}
              {isWrong && <span className="text-sm text-bad">Something above is not right yet.</span>}
            </div>
          </div>
        </div>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5 xl:sticky xl:top-7">
          <CreateLines dock={dock} />
        </div>
      </form>
    </Page>
  )
}
