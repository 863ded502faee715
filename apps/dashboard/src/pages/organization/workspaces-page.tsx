import type { Workspace } from '@dock/sdk'
import { nameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { workspacesQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useOrganization } from './use-organization.ts'

type Asked = { what: 'make' } | { what: 'rename' | 'delete'; workspace: Workspace }

/** The workspaces of an organization: make, rename and delete. */
export function WorkspacesPage() {
  const { orgId, isAdmin } = useOrganization()
  const client = useQueryClient()
  const workspaces = useQuery(workspacesQuery(orgId))
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  const named = asked && asked.what !== 'make' ? asked.workspace : undefined
  const isLast = workspaces.data?.length === 1
  const readAgain = () => client.invalidateQueries({ queryKey: ['workspace', orgId] })

  const save = async (form: FormData): Promise<void> => {
    const body = { name: textIn(form, 'name') }
    if (named) await api.call('updateWorkspace', { params: { id: named.id }, body })
    else await api.call('createWorkspace', { params: { orgId }, body })
    await readAgain()
  }
  return (
    <Panel
      title="Workspaces"
      text={`A workspace groups Docks, for a team or a project. ${isAdmin ? 'The last one stays, and one with Docks cannot be deleted.' : 'Only admins change workspaces.'}`}
      actions={
        isAdmin && (
          <Button look="primary" onClick={() => setAsked({ what: 'make' })}>
            New workspace
          </Button>
        )
      }
    >
      {workspaces.data ? (
        <Rows label="Workspaces">
          {workspaces.data.map((workspace) => (
            <Row
              key={workspace.id}
              title={workspace.name}
              text={
                <>
                  <span className="font-mono">{workspace.slug}</span> · made{' '}
                  <RelativeTime at={workspace.createdAt} />
                </>
              }
            >
              {isAdmin && (
                <>
                  <Button onClick={() => setAsked({ what: 'rename', workspace })}>Rename</Button>
                  <Button
                    look="danger"
                    disabled={isLast}
                    title={isLast ? 'An organization keeps its last workspace.' : undefined}
                    onClick={() => setAsked({ what: 'delete', workspace })}
                  >
                    Delete
                  </Button>
                </>
              )}
            </Row>
          ))}
        </Rows>
      ) : (
        <Pending error={workspaces.error} />
      )}
      <FormDialog
        title={named ? `Rename ${named.name}` : 'New workspace'}
        action={named ? 'Rename' : 'Make workspace'}
        open={asked?.what === 'make' || asked?.what === 'rename'}
        onClose={close}
        onSubmit={save}
      >
        <Field
          label="Name"
          name="name"
          defaultValue={named?.name ?? ''}
          maxLength={nameLengthMax}
          autoComplete="off"
          required
        />
      </FormDialog>
      <ConfirmDialog
        title={`Delete ${named?.name ?? ''}?`}
        description="The workspace must have no Docks. This cannot be undone."
        name={named?.name ?? ''}
        action="Delete"
        open={asked?.what === 'delete'}
        onClose={close}
        onConfirm={async () => {
          if (named) await api.call('deleteWorkspace', { params: { id: named.id } })
          await readAgain()
        }}
      />
    </Panel>
  )
}
