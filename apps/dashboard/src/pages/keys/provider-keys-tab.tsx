import type { Organization, ProviderKeyStatus } from '@dock/sdk'
import { providerKeyLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { providerKeysQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showError } from '../../components/toasts.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { reaches } from '../../lib/roles.ts'
import { SecretValue } from '../environments/secret-value.tsx'

type Provider = ProviderKeyStatus['provider']

const names: Record<Provider, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  openrouter: 'OpenRouter',
  opencode: 'OpenCode',
}

const shownMs = 60_000

/** The keys for model providers of an organization. */
export function ProviderKeysTab() {
  const { organization: chosen, hasNone, error } = useCurrentOrganization()
  return (
    <Panel
      title="Provider keys"
      text={`Keys for model providers that Docks of ${chosen?.name ?? 'the organization'} get, if their Environment passes them on. Members see only whether one is set.`}
    >
      {hasNone && (
        <p className="m-0 text-sm text-muted">These keys belong to an organization, and you are in none.</p>
      )}
      {!chosen && !hasNone && <Pending error={error} />}
      {chosen && <OrganizationKeys key={chosen.id} organization={chosen} />}
    </Panel>
  )
}

function OrganizationKeys({ organization }: { organization: Organization }) {
  const client = useQueryClient()
  const keys = useQuery(providerKeysQuery(organization.id))
  const isAdmin = reaches(organization.role, 'admin')
  const [shown, setShown] = useState<{ provider: Provider; key: string }>()
  const [replaced, setReplaced] = useState<Provider>()
  const [removed, setRemoved] = useState<Provider>()
  const query = { organizationId: organization.id }
  const readAgain = () => client.invalidateQueries({ queryKey: ['provider-key', organization.id] })
  useEffect(() => {
    if (!shown) return
    const timer = setTimeout(() => setShown(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [shown])
  const reveal = (provider: Provider): void => {
    api.call('revealProviderKey', { params: { provider }, query }).then(setShown, showError)
  }
  if (!keys.data) return <Pending error={keys.error} />
  return (
    <>
      {!isAdmin && <p className="m-0 text-sm text-muted">Only admins set, see and delete these keys.</p>}
      <Rows label="Provider keys">
        {keys.data.map(({ provider, configured, updatedAt }) => (
          <Row
            key={provider}
            title={
              <>
                {names[provider]}
                {configured && <Badge tone="good">set</Badge>}
              </>
            }
            text={
              shown?.provider === provider ? (
                <SecretValue name={names[provider]} value={shown.key} />
              ) : updatedAt === null ? (
                'not set'
              ) : (
                <>
                  set <RelativeTime at={updatedAt} />
                </>
              )
            }
          >
            {isAdmin && (
              <>
                {configured && (
                  <Button
                    aria-label={`${shown?.provider === provider ? 'Hide' : 'Reveal'} the key of ${names[provider]}`}
                    onClick={() => (shown?.provider === provider ? setShown(undefined) : reveal(provider))}
                  >
                    {shown?.provider === provider ? 'Hide' : 'Reveal'}
                  </Button>
                )}
                <Button
                  aria-label={`${configured ? 'Replace' : 'Set'} the key of ${names[provider]}`}
                  onClick={() => setReplaced(provider)}
                >
                  {configured ? 'Replace' : 'Set'}
                </Button>
                {configured && (
                  <Button
                    look="danger"
                    aria-label={`Delete the key of ${names[provider]}`}
                    onClick={() => setRemoved(provider)}
                  >
                    Delete
                  </Button>
                )}
              </>
            )}
          </Row>
        ))}
      </Rows>
      <FormDialog
        title={`Key for ${replaced ? names[replaced] : ''}`}
        description="It is stored sealed, and replaces the key from before."
        action="Save"
        open={replaced !== undefined}
        onClose={() => setReplaced(undefined)}
        onSubmit={async (form) => {
          if (!replaced) return
          await api.call('setProviderKey', {
            body: { ...query, provider: replaced, key: textIn(form, 'key') },
          })
          setShown(undefined)
          await readAgain()
        }}
      >
        <Field
          label="Key"
          name="key"
          type="password"
          autoComplete="off"
          maxLength={providerKeyLengthMax}
          required
        />
      </FormDialog>
      <ConfirmDialog
        title={`Delete the key for ${removed ? names[removed] : ''}?`}
        description="New Docks start without it. Docks that have it keep it until they are upgraded, or resume."
        name={removed ? names[removed] : ''}
        action="Delete"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          if (!removed) return
          await api.call('deleteProviderKey', { params: { provider: removed }, query })
          setShown(undefined)
          await readAgain()
        }}
      />
    </>
  )
}
