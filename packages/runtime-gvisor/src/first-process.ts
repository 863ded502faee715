/**
 * Process 1 of a sandbox: prepares it, says so on standard output, then becomes the image's own init. All of it runs
 * inside: the host opens no path of a disk that a tenant has used.
 */
import type { SandboxSpec } from '@dock/runtime'

const afterPreparation = `
code=$?
echo "$code"
[ "$code" -eq 0 ] || exit "$code"
exec </dev/null >/dev/null 2>&1
if [ -x /usr/lib/dock/init ]; then exec -c /usr/lib/dock/init; fi
exec -c /bin/sleep infinity
`

/**
 * Arguments of process 1. It writes one line to standard output: the exit code of the preparation. What the
 * preparation says is on standard error; after that line none of its streams is used.
 */
export function firstProcess(preparation: SandboxSpec['prepare']): string[] {
  return [
    '/bin/bash',
    '-c',
    `prepare() {\n:\n${preparation?.script ?? ''}\n}\nprepare >/dev/null${afterPreparation}`,
  ]
}
