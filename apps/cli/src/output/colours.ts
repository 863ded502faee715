/** Colours, where the terminal and NO_COLOR allow them. */
import type { Sink } from './sink.ts'

const codes = { red: '31', green: '32', yellow: '33', blue: '34', dim: '2' } as const
export type ColourName = keyof typeof codes

/** Returns true if text for this stream may have colours. See https://no-color.org. */
export function hasColours(
  sink: Pick<Sink, 'isTTY'>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return sink.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

export function colour(name: ColourName, text: string): string {
  return `\u001b[${codes[name]}m${text}\u001b[0m`
}
