/** The last line of the terminal, which shows what goes on and is removed at the end. */
import type { Sink } from './sink.ts'
import { shortened } from './table.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100
/** What is quicker is not worth a look. */
const firstShownMs = 300

export class StatusLine {
  readonly #sink: Sink
  readonly #isShown: boolean
  #isDrawn = false
  constructor(sink: Sink, isShown: boolean) {
    this.#sink = sink
    this.#isShown = isShown
  }

  /** Shows a spinner with the label until the returned function is called. */
  spin(label: string): () => void {
    let at = 0
    return this.follow((width) => {
      at += 1
      return shortened(`${frames[at % frames.length]} ${label}`, width)
    })
  }

  /** Shows the line that `read` returns until the returned function is called. */
  follow(read: (width: number) => string): () => void {
    if (!this.#isShown) return () => undefined
    const draw = (): void => {
      this.#isDrawn = true
      this.#sink.write(`\r\u001b[2K${read((this.#sink.columns ?? 80) - 1)}`)
    }
    let repeated: NodeJS.Timeout | undefined
    const first = setTimeout(() => {
      draw()
      repeated = setInterval(draw, frameMs)
    }, firstShownMs)
    return () => {
      clearTimeout(first)
      clearInterval(repeated)
      this.clear()
    }
  }

  clear(): void {
    if (this.#isDrawn) this.#sink.write('\r\u001b[2K')
    this.#isDrawn = false
  }
}
