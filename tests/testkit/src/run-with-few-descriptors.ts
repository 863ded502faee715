import { execFile } from 'node:child_process'

/**
 * Runs a program of TypeScript in a Node process that may open at most 100 descriptors. Its `openAll()` uses up those that
 * are left, until `closeAll()`. Returns its exit code and what it prints.
 */
export function runWithFewDescriptors(program: string): Promise<{ code: number; printed: string }> {
  const source = `import { closeSync, openSync } from 'node:fs'
    const opened = []
    const openAll = () => { try { for (;;) opened.push(openSync('/dev/null')) } catch {} }
    const closeAll = () => { for (const each of opened.splice(0)) closeSync(each) }
    ${program}`
  const args = ['-c', 'ulimit -n 100; exec "$0" --input-type=module-typescript -e "$1"']
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', [...args, process.execPath, source], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 128, printed: stdout + stderr }),
    )
  })
}
