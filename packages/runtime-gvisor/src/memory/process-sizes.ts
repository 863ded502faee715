/**
 * Sizes of a sandbox's processes, asked for no more often than the agent can read them. A dump costs what its tenant put
 * into it, so the next one waits four times as long as reading the last one took: no sandbox takes more than a fifth of
 * the agent's time.
 */
import type { MemoryDump } from './dump-reader.ts'
import type { ListedProcess, MemoryProcess } from './victims.ts'

const waitPerReadMs = 4
const waitMsMax = 1_000

export class ProcessSizes {
  #againAtMs = Number.NEGATIVE_INFINITY

  /** Whether it is too soon to ask again. */
  get areTooSoon(): boolean {
    return performance.now() < this.#againAtMs
  }

  /**
   * Asks for the sizes of `listed`. Those that are not told, because the dump was too long or failed, are taken for an
   * equal share of what the others leave of `usedBytes`.
   */
  async ask(
    sentry: { memory(): Promise<MemoryDump> },
    listed: readonly ListedProcess[],
    usedBytes: number,
  ): Promise<{ processes: MemoryProcess[]; isWhole: boolean }> {
    const dump = await sentry.memory().catch((): MemoryDump => ({ processes: [], isWhole: false, readMs: 0 }))
    this.#againAtMs = performance.now() + Math.min(waitMsMax, waitPerReadMs * dump.readMs)
    if (dump.isWhole) return dump
    const told = new Set(dump.processes.map(({ pid }) => pid))
    const untold = listed.filter(({ pid }) => !told.has(pid))
    const toldBytes = dump.processes.reduce((sum, { rssBytes }) => sum + rssBytes, 0)
    const rssBytes = Math.max(0, usedBytes - toldBytes) / Math.max(1, untold.length)
    return {
      processes: [...dump.processes, ...untold.map((each) => ({ ...each, rssBytes }))],
      isWhole: false,
    }
  }
}
