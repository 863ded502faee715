/**
 * Process 1 of a sandbox: runs the preparation, reports its exit code on standard output, then becomes the image's
 * init. All of this runs inside the sandbox, because the host must not open paths on a disk that a tenant has used.
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
 * Returns the arguments of process 1. It writes one line to standard output: the exit code of the preparation. The
 * preparation's own output goes to standard error. After that line, none of the streams is used.
 */
export function firstProcess(preparation: SandboxSpec['prepare']): string[] {
  return [
    '/bin/bash',
    '-c',
    `prepare() {\n:\n${preparation?.script ?? ''}\n}\nprepare >/dev/null${afterPreparation}`,
  ]
}
