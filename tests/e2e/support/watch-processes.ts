/** Repeatedly searches the arguments and environments of all processes on this machine. */
import { readdir, readFile } from 'node:fs/promises'

export type ProcessWatch = {
  /** What was found, as `NAME in cmdline` or `NAME in environ`. */
  seen: Set<string>
  /** Stops the search. Returns the number of completed passes. */
  end(): Promise<number>
}

/** Starts a search for the words, which are given by name. */
export function watchProcesses(words: Readonly<Record<string, string>>): ProcessWatch {
  const seen = new Set<string>()
  let isOver = false
  let looks = 0
  const look = async (): Promise<void> => {
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue
      for (const file of ['cmdline', 'environ']) {
        const text = await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
        for (const [name, word] of Object.entries(words))
          if (text.includes(word)) seen.add(`${name} in ${file}`)
      }
    }
    looks += 1
  }
  const watching = (async () => {
    while (!isOver) await look()
  })()
  return {
    seen,
    end: async () => {
      isOver = true
      await watching
      return looks
    },
  }
}
