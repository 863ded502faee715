/**
 * Process 1 of a sandbox: runs the preparation, reports its exit code on standard output, then becomes the image's
 * init. All of this runs inside the sandbox, because the host must not open paths on a disk that a tenant has used.
 */
import type { SandboxSpec } from '@dock/runtime'

/**
 * The PATH in which runsc finds the program of process 1: the images' statically linked bash, because it starts faster, or
 * the usual one on disks of older images.
 */
export const firstProcessPath = '/usr/lib/dock:/bin'
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/**
 * How long the image's services wait after a boot for which somebody waits: the first command would share the processors
 * with their start.
 */
const servicesAfterMs = 360

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
 * Returns the arguments of process 1, which is started with {@link firstProcessPath}. It writes one line to standard
 * output: the exit code of the preparation. The preparation's own output goes to standard error. After that line, none of
 * the streams is used.
 */
export function firstProcess({
  prepare,
  inBackground,
}: Pick<SandboxSpec, 'prepare' | 'inBackground'>): string[] {
  const script = `PATH=${usualPath}
prepare() {
:
${prepare?.script ?? ''}
}
prepare >/dev/null`
  return ['bash', '-c', `${script}${afterPreparation(inBackground ? 0 : servicesAfterMs)}`]
}
