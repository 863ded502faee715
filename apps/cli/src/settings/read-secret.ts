/** Reads a secret from standard input, without showing it. */
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

const bytesMax = 4096

const readPiped = async (): Promise<string> => {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > bytesMax)
      throw new LocalError('key_invalid', 'Standard input is too long for an API key.')
  }
  return text
}

const readHidden = (question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    process.stderr.write(question)
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
    const take = (chunk: Buffer): void => {
      for (const character of String(chunk)) takeOne(character)
    }
    stdin.on('data', take)
    stdin.resume()
  })

/** Returns the secret. */
export function readSecret(context: Context, question: string): Promise<string> {
  return context.isInteractive ? readHidden(question) : readPiped()
}
