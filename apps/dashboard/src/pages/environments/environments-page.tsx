import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { environmentsQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { countOf } from '../../lib/count-of.ts'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { reaches } from '../../lib/roles.ts'

/** The Environments of one organization. */
export function EnvironmentsPage() {
  const navigate = useNavigate()
  const client = useQueryClient()
  const { organization: chosen, hasNone, error } = useCurrentOrganization()
  const environments = useQuery({ ...environmentsQuery(chosen?.id ?? ''), enabled: chosen !== undefined })
  const [makes, setMakes] = useState(false)
  const isAdmin = reaches(chosen?.role, 'admin')

  const make = async (form: FormData): Promise<void> => {
    if (!chosen) return
    const body = { organizationId: chosen.id, name: textIn(form, 'name') }
    const { id } = await api.call('createEnvironment', { body })
    await client.invalidateQueries({ queryKey: ['environment'] })
    await navigate({ to: '/environments/$id', params: { id }, search: {} })
  }
  return (
    <Page
      title="Environments"
      text="An Environment says with which variables, secret files and repositories a Dock starts."
      actions={
        <Button
          look="primary"
          disabled={!isAdmin}
          title={isAdmin ? undefined : 'Only admins make Environments.'}
          onClick={() => setMakes(true)}
        >
          New Environment
        </Button>
      }
    >
      {hasNone && <NoOrganization subject="Environments" />}
      {!hasNone && !environments.data && <Pending error={error ?? environments.error} />}
      {environments.data && (
        <Panel title={chosen?.name ?? ''}>
          <Rows label="Environments">
            {environments.data.map((each) => (
              <Row
                key={each.id}
                title={
                  <>
                    <Link
                      to="/environments/$id"
                      params={{ id: each.id }}
                      search={{}}
                      className="hover:underline"
                    >
                      {each.name}
                    </Link>
                    {each.isDefault && <Badge>default</Badge>}
                    {each.safeForThirdParties && <Badge tone="wait">passes nothing on</Badge>}
                  </>
                }
                text={
                  <>
                    {countOf(each.varNames.length, 'variable')}, {countOf(each.files.length, 'file')},{' '}
                    {countOf(each.repos.length, 'repository', 'repositories')} · version {each.currentVersion}{' '}
                    · changed <RelativeTime at={each.updatedAt} />
                  </>
                }
              />
            ))}
          </Rows>
        </Panel>
      )}
      <FormDialog
        title="New Environment"
        description="It starts empty, at version 1. Only admins may use Docks that receive its secrets; you can open it to members later."
        action="Make Environment"
        open={makes}
        onClose={() => setMakes(false)}
        onSubmit={make}
      >
        <Field
          label="Name"
          name="name"
          hint="2 to 64 small letters, digits, dashes or underscores"
          pattern="[a-z0-9_\-]{2,64}"
          autoComplete="off"
          required
        />
      </FormDialog>
    </Page>
  )
}
