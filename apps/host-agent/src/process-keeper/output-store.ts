/**
 * The kept output of a Dock's processes: segment files, named by stream and first offset. A stream keeps its newest bytes.
 * Whole segments are dropped, oldest first, when a stream or the Dock exceeds its budget. A segment that a reader still
 * needs is not dropped until the reader has passed it, or has not read anything for the time that a reader may hold.
 */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DockBudget, Segment } from './dock-budget.ts'
import { storedBytes } from './host-budget.ts'

/** A reader's position. It holds every segment that ends after it. */
export type Reader = {
  position: number
  /** When the reader last read something, or began to have something to read. */
  movedAt: number
  /** Ends the reader, because it held the stream back for too long. */
  end(): void
}

const nameDigits = 16

/** Returns the file name of the segment that begins at `start`. Names of a stream sort by offset. */
export function segmentName(stream: string, start: number): string {
  return `${stream}.${String(start).padStart(nameDigits, '0')}`
}

export class OutputStream {
  /** True until the last writer has closed the pipe. */
  isOpen: boolean
  readonly #readers = new Set<Reader>()
  /** Stands for the first reader until it comes. */
  #awaited: Reader | null = null
  readonly #budget: DockBudget
  readonly #folder: string
  readonly #name: string
  readonly #segments: Segment[]
  #end: number
  /** What this stream has told its budget. */
  #stored = 0
  /** Bytes that are being written. */
  #arriving = 0
  #file: FileHandle | null = null
  #isRemoved = false
  /** Settles when the file that is being created is there. */
  #creating: Promise<unknown> = Promise.resolve()
  #changed = Promise.withResolvers<void>()
  #released = Promise.withResolvers<void>()

  /** `segments` are those that an earlier keeper left. A stream with such segments takes no more output. */
  constructor(folder: string, name: string, budget: DockBudget, segments: Segment[], isOpen: boolean) {
    this.#folder = folder
    this.#name = name
    this.#budget = budget
    this.#segments = segments
    this.#end = segments.at(-1)?.end ?? 0
    this.isOpen = isOpen
    budget.streams.add(this)
    this.#noteStored()
  }

  /** Offset of the first byte that is kept. */
  get first(): number {
    return this.#segments[0]?.start ?? this.#end
  }

  /** Offset after the last byte. */
  get end(): number {
    return this.#end
  }

  /** Kept bytes. The segment that is being written counts as full. */
  get bytes(): number {
    const { length } = this.droppable
    const whole = (this.#segments[length]?.start ?? this.#end) - this.first
    return whole + (this.#segments.length > length ? this.#budget.settings.segmentBytes : 0)
  }

  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** The segments that may be dropped: all but the one that is being written. */
  get droppable(): readonly Segment[] {
    return this.#file ? this.#segments.slice(0, -1) : this.#segments
  }

  /** Adds bytes to the stream. Waits while a reader holds it back. The caller must not add others meanwhile. */
  async append(chunk: Uint8Array): Promise<void> {
    const { host } = this.#budget
    await host.makeRoom(this.#budget, storedBytes(chunk.length), () => {
      this.#arriving = chunk.length
      this.#noteStored()
    })
    try {
      const written = await this.#write(chunk)
      // It is missing only if the stream was removed meanwhile.
      if (!written) return
      written.end += chunk.length
      this.#end = written.end
      this.#notify()
    } finally {
      this.#arriving = 0
      this.#noteStored()
    }
  }

  /** Returns the segment that the chunk is in, or undefined if the stream was removed meanwhile. */
  async #write(chunk: Uint8Array): Promise<Segment | undefined> {
    const { segmentBytes } = this.#budget.settings
    while (!this.#isRemoved) {
      let segment = this.#segments.at(-1)
      const isFull = !segment || segment.end - segment.start + chunk.length > segmentBytes
      if (!this.#file || isFull) segment = await this.#beginSegment()
      const file = this.#file
      // The host's budget may close a new segment at once.
      if (!segment || !file) continue
      for (let written = 0; written < chunk.length; ) {
        const at = segment.end - segment.start + written
        const { bytesWritten } = await file.write(chunk, written, chunk.length - written, at)
        written += bytesWritten
      }
      return segment
    }
    return undefined
  }

  /** Closes the segment if it is being written, so that it may be dropped. The next bytes begin another one. */
  async closeSegment(segment: Segment): Promise<void> {
    if (this.#segments.at(-1) === segment) await this.#closeFile()
  }

  /** Marks the stream as complete. */
  async finish(): Promise<void> {
    if (!this.isOpen) return
    this.isOpen = false
    await this.#closeFile()
    this.#notify()
  }

  /** Returns the segment that contains `offset`, which must be at least `first` and before `end`. */
  segmentAt(offset: number): Segment {
    const found = this.#segments.find(({ end }) => offset < end)
    if (!found) throw new Error(`${this.#name} has no byte ${offset}`)
    return found
  }

  /** Keeps everything for a reader that is about to come. It may hold the stream back as if it were here already. */
  awaitReader(): void {
    this.#awaited = { position: 0, movedAt: performance.now(), end: () => undefined }
    this.#readers.add(this.#awaited)
  }

  addReader(reader: Reader): void {
    this.#readers.add(reader)
    this.#budget.readers += 1
    if (this.#awaited) this.removeReader(this.#awaited)
  }

  /** Call it also whenever the reader's position has changed. */
  noteMove(): void {
    this.#released.resolve()
    this.#released = Promise.withResolvers()
  }

  removeReader(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    if (reader === this.#awaited) this.#awaited = null
    else this.#budget.readers -= 1
    this.noteMove()
  }

  /** Resolves at the next change: more bytes, or the end. */
  get changed(): Promise<void> {
    return this.#changed.promise
  }

  isHeld(segment: Segment): boolean {
    for (const { position } of this.#readers) if (position < segment.end) return true
    return false
  }

  /**
   * Drops the segment, which must be the first one. Waits for its readers, and ends those that do not read. Without `waits`,
   * ends all of them at once.
   */
  async drop(segment: Segment, waits = true): Promise<void> {
    while (this.isHeld(segment) && !this.#isRemoved) {
      const oldestMove = Math.min(
        ...[...this.#readers].filter(({ position }) => position < segment.end).map(({ movedAt }) => movedAt),
      )
      const leftMs = oldestMove + this.#budget.settings.holdMs - performance.now()
      if (!waits) this.#endReaders(segment, Number.POSITIVE_INFINITY)
      else if (leftMs <= 0) this.#endReaders(segment, performance.now() - this.#budget.settings.holdMs)
      else await this.#waitForMove(leftMs)
    }
    // Another stream of the Dock may have dropped it meanwhile.
    if (this.#segments[0] !== segment) return
    this.#segments.shift()
    this.#noteStored()
    await rm(segment.path, { force: true })
  }

  /** Ends all readers and forgets the stream, which creates no file afterwards. The caller removes the files. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    this.#noteStored()
    this.#budget.streams.delete(this)
    for (const reader of [...this.#readers]) reader.end()
    await this.finish()
    await this.#closeFile()
    await this.#creating.catch(() => undefined)
    this.noteMove()
  }

  /** Returns undefined if the stream was removed meanwhile. */
  async #beginSegment(): Promise<Segment | undefined> {
    const { streamBytesMax, segmentBytes } = this.#budget.settings
    await this.#closeFile()
    while (this.bytes + segmentBytes > streamBytesMax && this.#segments[0] && !this.#isRemoved)
      await this.drop(this.#segments[0])
    if (this.#isRemoved) return undefined
    const start = this.#end
    const path = join(this.#folder, segmentName(this.#name, start))
    // Open it first: with an open file, its segment counts as being written.
    const creating = open(path, 'w', 0o600)
    this.#creating = creating
    const file = await creating
    const segment = { path, start, end: start, order: this.#budget.nextOrder() }
    await this.#budget.makeRoom(() => {
      if (this.#isRemoved) return
      this.#file = file
      this.#segments.push(segment)
      this.#noteStored()
    })
    if (this.#file === file) return segment
    await file.close()
    return undefined
  }

  /** Ends the readers that need the segment and last moved at `latest` or before. */
  #endReaders(segment: Segment, latest: number): void {
    for (const reader of [...this.#readers]) {
      if (reader.position >= segment.end || reader.movedAt > latest) continue
      this.removeReader(reader)
      reader.end()
    }
  }

  async #waitForMove(ms: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    await Promise.race([this.#released.promise, late])
    clearTimeout(timer)
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.close()
  }

  #noteStored(): void {
    let stored = this.#arriving
    for (const { start, end } of this.#segments) stored += storedBytes(end - start)
    if (this.#isRemoved) stored = 0
    this.#budget.noteStored(stored - this.#stored)
    this.#stored = stored
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
