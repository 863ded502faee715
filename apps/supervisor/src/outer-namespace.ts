/**
 * Commands in the machine's own mount namespace, which script/server keeps open as a file descriptor: the pool is
 * mounted there and the host agent starts from there, outside the view of control plane and PostgreSQL.
 */

/** The descriptor under which script/server hands the namespace over. */
const namespaceDescriptor = 9

/** The command line that runs `command` in the machine's namespace; it stays the same process. */
export function inOuterNamespace(command: readonly string[]): [string, ...string[]] {
  return ['nsenter', `--mount=/proc/${process.pid}/fd/${namespaceDescriptor}`, '--', ...command]
}
