import type { SshKey } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { CopyLine } from '../../components/copy-line.tsx'
import { TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Pending } from '../../components/pending.tsx'
import { proofCommand } from './proof-command.ts'

/** Shows the command that signs a challenge with the private key, and takes the signature. */
export function ProveSshKeyDialog(props: {
  sshKey: SshKey | undefined
  onClose: () => void
  onProved: () => Promise<unknown>
}) {
  const { sshKey, onClose, onProved } = props
  const id = sshKey?.id
  const challenge = useQuery({
    queryKey: ['ssh-key-challenge', id],
    queryFn: () => api.call('createSshKeyChallenge', { params: { id: id ?? '' } }),
    enabled: id !== undefined,
    // Each dialog has a challenge of its own: one can be used once, and reading it again would replace it.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  })
  return (
    <FormDialog
      title={`Prove ${sshKey?.name ?? ''}`}
      description="Anybody can add a public key. A signature by the private key shows that this one is yours."
      action="Prove key"
      open={sshKey !== undefined}
      onClose={onClose}
      onSubmit={async (form) => {
        await api.call('proveSshKey', {
          params: { id: id ?? '' },
          body: { signature: textIn(form, 'signature') },
        })
        await onProved()
      }}
    >
      <p className="m-0 text-sm">
        With the command line, <code className="font-mono text-xs">dock ssh-key prove</code> does it. Without
        it, run this where the private key is, within ten minutes. Change the name of the file if yours is
        another one.
      </p>
      {challenge.data ? (
        <CopyLine label="Sign" text={proofCommand(challenge.data)} />
      ) : (
        <Pending error={challenge.error} />
      )}
      <TextArea
        spellCheck={false}
        className="font-mono"
        label="Signature"
        name="signature"
        rows={6}
        placeholder="-----BEGIN SSH SIGNATURE-----"
        hint="All that the command printed."
        required
      />
    </FormDialog>
  )
}
