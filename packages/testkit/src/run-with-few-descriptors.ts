import { execFile } from 'node:child_process'

/**
 * Runs a module in a Node process that may open at most 100 descriptors. The imports of the module start with `openAll()`,
 * which uses up all that are left.
 */
export function runWithFewDescriptors(module: string): Promise<{ code: number; printed: string }> {
  const limited = 'ulimit -n 100; exec "$0" --input-type=module -e "$1"'
  const source = `import { openSync as open } from 'node:fs'
    const openAll = () => { try { for (;;) open('/dev/null') } catch {} }
    ${module}`
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', ['-c', limited, process.execPath, source], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 128, printed: stdout + stderr }),
    )
  })
}
