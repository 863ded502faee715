import type { SshKey } from '@dock/sdk'
import { nameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { sshKeyProofsQuery, sshKeysQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { LastUsed } from './last-used.tsx'
import { ProveSshKeyDialog } from './prove-ssh-key-dialog.tsx'

/** The public keys with which the person reaches Docks over SSH. */
export function SshKeysTab() {
  const client = useQueryClient()
  const keys = useQuery(sshKeysQuery)
  const proofs = useQuery(sshKeyProofsQuery)
  const [adds, setAdds] = useState(false)
  const [proving, setProving] = useState<SshKey>()
  const [removed, setRemoved] = useState<SshKey>()
  /** Undefined while it is not known. */
  const proofOf = (key: SshKey) => proofs.data?.find(({ sshKeyId }) => sshKeyId === key.id)
  const readAgain = () => client.invalidateQueries({ queryKey: ['ssh-key'] })
  return (
    <Panel
      title="SSH keys"
      text="Public keys of your computers. With one of them you reach all Docks that you may use, by ssh, scp and editors. Until you prove a key, it opens Docks by id and full name only."
      actions={
        <Button look="primary" onClick={() => setAdds(true)}>
          Add SSH key
        </Button>
      }
    >
      {!keys.data && <Pending error={keys.error} />}
      {keys.data?.length === 0 && (
        <Empty
          title="No SSH keys"
          text="Make one with ssh-keygen -t ed25519, and paste the file that ends with .pub."
        />
      )}
      {keys.data && keys.data.length > 0 && (
        <Rows label="SSH keys">
          {keys.data.map((key) => (
            <Row
              key={key.id}
              title={
                <>
                  <span>{key.name}</span>
                  {proofOf(key)?.provedAt && <Badge tone="good">proved</Badge>}
                  {proofOf(key)?.provedAt === null && <Badge tone="wait">not proved</Badge>}
                </>
              }
              text={
                <>
                  <span className="font-mono">{key.fingerprint}</span> · added{' '}
                  <RelativeTime at={key.createdAt} /> · <LastUsed at={key.lastUsedAt} />
                  <End at={proofOf(key)?.expiresAt ?? null} />
                </>
              }
            >
              {proofOf(key)?.provedAt === null && (
                <Button aria-label={`Prove ${key.name}`} onClick={() => setProving(key)}>
                  Prove
                </Button>
              )}
              <Button look="danger" aria-label={`Delete ${key.name}`} onClick={() => setRemoved(key)}>
                Delete
              </Button>
            </Row>
          ))}
        </Rows>
      )}
      <FormDialog
        title="Add an SSH key"
        action="Add key"
        open={adds}
        onClose={() => setAdds(false)}
        onSubmit={async (form) => {
          const added = await api.call('addSshKey', {
            body: { name: textIn(form, 'name'), publicKey: textIn(form, 'publicKey') },
          })
          await readAgain()
          setProving(added)
        }}
      >
        <Field
          label="Name"
          name="name"
          placeholder="laptop"
          maxLength={nameLengthMax}
          autoComplete="off"
          required
        />
        <TextArea
          spellCheck={false}
          className="font-mono"
          label="Public key"
          name="publicKey"
          rows={4}
          placeholder="ssh-ed25519 AAAA…"
          hint="One line, as in ~/.ssh/id_ed25519.pub. Never paste the private key."
          required
        />
      </FormDialog>
      <ProveSshKeyDialog sshKey={proving} onClose={() => setProving(undefined)} onProved={readAgain} />
      <ConfirmDialog
        title={`Delete ${removed?.name ?? ''}?`}
        description="No new connection can be made with this key. Connections that are open stay open."
        name={removed?.name ?? ''}
        action="Delete"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          await api.call('deleteSshKey', { params: { id: removed?.id ?? '' } })
          await readAgain()
        }}
      />
    </Panel>
  )
}

/** When a key ends that was added with an API key that expires. */
function End({ at }: { at: string | null }) {
  if (at === null) return null
  return (
    <>
      {' · ends '}
      <RelativeTime at={at} />
    </>
  )
}
