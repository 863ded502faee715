/**
 * Asks debugfs about the folders and inodes of one disk, question after question, with one confined process.
 */
import type { FileHandle } from 'node:fs/promises'
import { linesOf, mark, markOpen, startDebugfs } from './debugfs-process.ts'

export type DebugfsSession = {
  /**
   * Runs the command and calls `onLine` for each line of the answer, in bytes as latin1. No line of the answer may be text
   * of the disk with a slash, such as the target of a link: it could imitate the end of the answer.
   */
  ask(command: string, onLine: (line: string) => void): Promise<void>
  end(): void
}

/** `onEnd` is called once the process has ended. */
export function openDebugfsSession(disk: FileHandle, onEnd: () => void): DebugfsSession {
  const child = startDebugfs(disk, [])
  child.once('close', onEnd)
  const batches = linesOf(child)
  let unread: string[] = []
  return {
    async ask(command, onLine) {
      child.stdin.write(Buffer.from(`${command}\n${mark}\n`, 'latin1'))
      for (;;) {
        const end = unread.indexOf(markOpen)
        for (const line of end < 0 ? unread : unread.slice(0, end)) onLine(line)
        unread = end < 0 ? [] : unread.slice(end + 1)
        if (end >= 0) return
        const { value, done } = await batches.next()
        if (done) throw new Error('debugfs ended before it had answered')
        unread = value
      }
    },
    end: () => {
      child.stdin.end()
      child.kill('SIGKILL')
      // Closes the generator, and with it the timer of the deadline.
      batches.return(undefined).catch(() => undefined)
    },
  }
}
