/** Looks through arguments and environments of all processes of this machine, over and over, until it is ended. */
import { readdir, readFile } from 'node:fs/promises'

export type ProcessWatch = {
  /** Names of the words that were found, each with where. */
  seen: Set<string>
  /** Answers how many times it has looked. */
  end(): Promise<number>
}

/** `words`: what to look for, by name. */
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
