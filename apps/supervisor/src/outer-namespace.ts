/**
 * Runs commands in the machine's own mount namespace, which script/server keeps open as a file descriptor. The pool is
 * mounted there and the host agent starts there, outside the view of control plane and PostgreSQL.
 */

/** The descriptor of the namespace, opened by script/server. */
const namespaceDescriptor = 9

/** Returns the command line that runs `command` in the machine's namespace, with the same pid. */
export function inOuterNamespace(command: readonly string[]): [string, ...string[]] {
  return ['nsenter', `--mount=/proc/${process.pid}/fd/${namespaceDescriptor}`, '--', ...command]
}
