/**
 * Requests the sizes of a sandbox's processes at a bounded rate. The tenant determines how expensive a dump is to read.
 * So the next dump waits four times as long as reading the last one took, and a sandbox uses at most a fifth of the
 * agent's time.
 */
import type { ListedProcess, MemoryDump, MemoryProcess } from '../sentry/dump-reader.ts'

const waitPerReadMs = 4
const waitMsMax = 1_000

export class ProcessSizes {
  #againAtMs = Number.NEGATIVE_INFINITY

  /** True if it is too soon for another request. */
  get areTooSoon(): boolean {
    return performance.now() < this.#againAtMs
  }

  /**
   * Requests the sizes of `listed`. Processes missing from the dump, because it was too long or failed, are estimated:
   * they share the rest of `usedBytes` equally.
   */
  async ask(
    sentry: { memory(): Promise<MemoryDump> },
    listed: readonly ListedProcess[],
    usedBytes: number,
  ): Promise<{ processes: MemoryProcess[]; isWhole: boolean }> {
    const askedAtMs = performance.now()
    // A dump that was not answered in time goes on inside the sentry, so the time waited counts as reading.
    const dump = await sentry
      .memory()
      .catch((): MemoryDump => ({ processes: [], isWhole: false, readMs: performance.now() - askedAtMs }))
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
