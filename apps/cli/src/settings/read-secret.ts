/** Reads a secret from standard input, without showing it. */
import { cleanText } from '../output/clean-text.ts'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

/** As much as the service takes as the values of an Environment. */
const bytesMax = 64 * 1024

const readPiped = async (): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length
    if (bytes > bytesMax)
      throw new LocalError('input_too_long', 'Standard input is longer than 64 KiB, so it is no secret.')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}

const readHidden = (question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    process.stderr.write(cleanText(question))
    const { stdin } = process
    stdin.setRawMode(true)
    let text = ''
    const end = (): void => {
      stdin.setRawMode(false)
      stdin.pause()
      stdin.off('data', take)
      process.stderr.write('\n')
    }
    const takeOne = (character: string): void => {
      if (character === '\u0003' || text.length > bytesMax) {
        end()
        reject(new LocalError('cancelled', 'Nothing was changed.'))
      } else if (/[\r\n]/.test(character) || character === '\u0004') {
        end()
        resolve(text)
      } else text = character === '\u007f' ? text.slice(0, -1) : text + character
    }
    // A character may arrive in two pieces.
    const decoder = new TextDecoder()
    const take = (chunk: Buffer): void => {
      for (const character of decoder.decode(chunk, { stream: true })) takeOne(character)
    }
    stdin.on('data', take)
    stdin.resume()
  })

/** Returns the secret. */
export function readSecret(context: Context, question: string): Promise<string> {
  return context.isInteractive ? readHidden(question) : readPiped()
}
