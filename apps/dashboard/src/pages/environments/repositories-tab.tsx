import type { EnvironmentRepository } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { AddRepository } from './add-repository.tsx'
import { providerNames } from './provider-names.ts'
import type { TabProps } from './tab-props.ts'

/** The repositories that Docks clone, and the script that runs in each clone. */
export function RepositoriesTab({ environment, isAdmin }: TabProps) {
  const client = useQueryClient()
  const [adds, setAdds] = useState(false)
  const [removed, setRemoved] = useState<EnvironmentRepository>()
  const { repos, connections } = environment
  const used = [...new Set(repos.map(({ provider }) => provider))]
  const missing = used.filter((provider) => !connections[provider].connected)
  return (
    <Panel
      title="Repositories"
      text="A new Dock clones each of them into its work folder, and then runs its setup script."
      actions={isAdmin && <Button onClick={() => setAdds(true)}>Add repository</Button>}
    >
      {missing.map((provider) => (
        <p key={provider} className="m-0 rounded-md border border-line bg-raised px-3 py-2 text-sm">
          <span className="text-wait">{providerNames[provider]} is not connected.</span> Docks reach only
          public repositories of it, until the admin who added one connects the account on{' '}
          <Link to="/keys" search={{ tab: 'connections' }} className="text-accent underline">
            Keys
          </Link>
          .
        </p>
      ))}
      {repos.length === 0 ? (
        <p className="m-0 text-sm text-muted">No repositories. Docks start with an empty work folder.</p>
      ) : (
        <Rows label="Repositories">
          {repos.map((repository) => (
            <Row
              key={repository.id}
              title={
                <>
                  {repository.fullName}
                  <Badge>{providerNames[repository.provider]}</Badge>
                </>
              }
              text={`${repository.baseBranch ?? 'Default branch'} · ${repository.hasSetupScript ? 'with a setup script' : 'no setup script'}`}
            >
              {isAdmin && (
                <Button
                  look="danger"
                  aria-label={`Remove ${repository.fullName}`}
                  onClick={() => setRemoved(repository)}
                >
                  Remove
                </Button>
              )}
            </Row>
          ))}
        </Rows>
      )}
      <AddRepository environment={environment} open={adds} onClose={() => setAdds(false)} />
      <ConfirmDialog
        title={`Remove ${removed?.fullName ?? ''}?`}
        description="Docks that have a clone keep it. New Docks do not clone it, and its setup script is lost."
        name={removed?.fullName ?? ''}
        action="Remove"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          await api.call('removeEnvironmentRepository', {
            params: { ref: environment.id, repoId: removed?.id ?? '' },
          })
          await client.invalidateQueries({ queryKey: ['environment'] })
        }}
      />
    </Panel>
  )
}
