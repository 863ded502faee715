/**
 * Process 1 of a sandbox: runs the preparation, reports its exit code on standard output, then becomes the image's
 * init. All of this runs inside the sandbox, because the host must not open paths on a disk that a tenant has used.
 */
import type { SandboxSpec } from '@dock/runtime'

/**
 * How long the image's services wait after a boot for which somebody waits: the first command would share the processors
 * with their start.
 */
const servicesAfterMs = 350

const afterPreparation = (waitMs: number): string => `
code=$?
echo "$code"
[ "$code" -eq 0 ] || exit "$code"
exec </dev/null >/dev/null 2>&1
if [ -r /usr/lib/dock/services ]; then . /usr/lib/dock/services ${waitMs}; fi
if [ -x /usr/lib/dock/init ]; then exec -c /usr/lib/dock/init; fi
exec -c /bin/sleep infinity
`

/**
 * Returns the arguments of process 1. It writes one line to standard output: the exit code of the preparation. The
 * preparation's own output goes to standard error. After that line, none of the streams is used.
 */
export function firstProcess({
  prepare,
  inBackground,
}: Pick<SandboxSpec, 'prepare' | 'inBackground'>): string[] {
  const script = `prepare() {
:
${prepare?.script ?? ''}
}
prepare >/dev/null`
  return ['/bin/bash', '-c', `${script}${afterPreparation(inBackground ? 0 : servicesAfterMs)}`]
}
