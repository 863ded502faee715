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

const afterPreparation = (waitMs: number, dropVariables: string): string => `
code=$?
echo "$code"
[ "$code" -eq 0 ] || exit "$code"
exec </dev/null >/dev/null 2>&1
${dropVariables}
if [ -r /usr/lib/dock/services ]; then . /usr/lib/dock/services ${waitMs}; fi
if [ -x /usr/lib/dock/init ]; then exec -c /usr/lib/dock/init; fi
exec -c /bin/sleep infinity
`

type Boot = Pick<SandboxSpec, 'prepare' | 'inBackground'>

const scriptOf = ({ prepare, inBackground }: Boot, dropVariables = ''): string => `PATH=${usualPath}
prepare() {
:
${prepare?.script ?? ''}
}
prepare >/dev/null${afterPreparation(inBackground ? 0 : servicesAfterMs, dropVariables)}`

/**
 * Returns the arguments of process 1, which is started with {@link firstProcessPath}. It writes one line to standard
 * output: the exit code of the preparation. The preparation's own output goes to standard error. After that line, none of
 * the streams is used.
 */
export function firstProcess(boot: Boot): string[] {
  return ['bash', '-c', scriptOf(boot)]
}

/**
 * The arguments of process 1 of a sandbox that is created before its preparation is known. It reads the script that
 * {@link firstProcess} gets as an argument from its standard input, by length: bash reads byte by byte up to a
 * delimiter.
 */
export const waitingProcess = [
  'bash',
  '-c',
  'IFS= read -r length && IFS= read -rN "$length" script && eval "$script"; exit 16',
]

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** Returns the standard input that makes {@link waitingProcess} the first process with this preparation. */
export function lateInput(boot: Boot): Buffer {
  const variables = Object.entries(boot.prepare?.env ?? {})
  const exports = variables.map(([name, value]) => `export ${name}=${quoted(value)}\n`)
  // The services drop only the variables with which process 1 began, and would pass these to every `sudo`.
  const dropVariables = `unset ${variables.map(([name]) => name).join(' ')}`
  const script = Buffer.from(`${exports.join('')}${scriptOf(boot, dropVariables)}`)
  return Buffer.concat([Buffer.from(`${script.length}\n`), script, boot.prepare?.input ?? Buffer.alloc(0)])
}
