/** Returns a word that a POSIX shell reads as this text. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Returns the line of shell that signs the challenge. It goes through a file, because ssh-keygen asks for a passphrase only
 * if its input is a terminal.
 */
export function proofCommand({ challenge, namespace }: { challenge: string; namespace: string }): string {
  const write = `printf %s ${quoted(challenge)} >dock-proof`
  const sign = `ssh-keygen -Y sign -n ${quoted(namespace)} -f ~/.ssh/id_ed25519 dock-proof`
  return `${write} && ${sign} && cat dock-proof.sig; rm -f dock-proof dock-proof.sig`
}
