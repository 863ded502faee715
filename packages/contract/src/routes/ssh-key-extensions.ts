/**
 * Extensions, not part of the specification: proofs that a person has the private key of an SSH key. Public keys are
 * public, so anybody can add them.
 */
import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { sshKeyChallenge, sshKeyProof } from '../objects/keys.ts'
import { route } from '../route.ts'

const { signatureLength } = limits.sshKeyProof

const ofKey = {
  tag: 'Keys',
  method: 'POST',
  access: { credentials: 'caller', scope: 'person' },
  params: z.object({ id: field.uuid }),
  notFound: 'ssh_key_not_found',
} as const

export const sshKeyExtensionRoutes = {
  listSshKeyProofs: route({
    method: 'GET',
    path: '/v1/ssh-keys/proofs',
    summary: "List which of the caller's SSH keys are proved, and when they end, newest key first",
    description:
      'A key that is not proved opens Docks by id or by full name (`name.workspace.organization`). A proved key also opens them by shorter names.',
    extension: true,
    tag: 'Keys',
    access: { credentials: 'caller', scope: 'person' },
    response: z.array(sshKeyProof),
    errors: [],
  }),
  createSshKeyChallenge: route({
    ...ofKey,
    path: '/v1/ssh-keys/:id/challenge',
    summary: 'Get a text to sign with an SSH key, to prove that it is yours',
    description:
      'Sign the text with `ssh-keygen -Y sign -n NAMESPACE -f KEY`, and send the signature to `/proof`. A new text replaces the one before.',
    extension: true,
    status: 201,
    response: sshKeyChallenge,
    errors: ['ssh_key_not_found', 'rate_limited'],
  }),
  proveSshKey: route({
    ...ofKey,
    path: '/v1/ssh-keys/:id/proof',
    summary: 'Prove an SSH key with a signature of the challenge',
    description: 'A challenge can be used once. From now on the key opens Docks by short names, too.',
    extension: true,
    body: z.strictObject({
      /** What `ssh-keygen -Y sign` printed: from `-----BEGIN SSH SIGNATURE-----` to the end. */
      signature: z.string().min(signatureLength.min).max(signatureLength.max),
    }),
    response: sshKeyProof,
    errors: ['validation_error', 'ssh_key_not_found', 'rate_limited'],
  }),
} as const
