import { execFile } from 'node:child_process'

/**
 * Runs a program of TypeScript in a Node process that may open at most 100 descriptors. Its `openAll()` uses up those that
 * are left. Returns its exit code and what it prints.
 */
export function runWithFewDescriptors(program: string): Promise<{ code: number; printed: string }> {
  const source = `import { openSync } from 'node:fs'
    const openAll = () => { try { for (;;) openSync('/dev/null') } catch {} }
    ${program}`
  const args = ['-c', 'ulimit -n 100; exec "$0" --input-type=module-typescript -e "$1"']
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', [...args, process.execPath, source], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 128, printed: stdout + stderr }),
    )
  })
}
