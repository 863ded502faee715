import ssh2 from 'ssh2'

type Key = ssh2.ParsedKey

/** Offers public keys, and notes which of them the server accepts. It cannot sign with any of them. */
class Questions extends ssh2.BaseAgent<Key> {
  readonly accepted = new Set<Key>()
  readonly #keys: Key[]

  constructor(keys: Key[]) {
    super()
    this.#keys = keys
  }

  override getIdentities(answer: (error: undefined, keys: Key[]) => void): void {
    answer(undefined, this.#keys)
  }

  override sign(key: Key, ...more: unknown[]): void {
    this.accepted.add(key)
    const answer = more.findLast((each) => typeof each === 'function')
    if (answer) answer(new Error('there is no private key'))
  }
}

/** Asks the gateway about public keys without having the private ones. Returns for each whether it would be accepted. */
export async function askAboutKeys(port: number, user: string, lines: readonly string[]): Promise<boolean[]> {
  const keys = lines.map((line) => ssh2.utils.parseKey(line) as Key)
  const questions = new Questions(keys)
  const client = new ssh2.Client()
  await new Promise<void>((resolve) => {
    client.on('error', () => undefined).on('close', () => resolve())
    client.connect({ host: '127.0.0.1', port, username: user, agent: questions })
  })
  return keys.map((key) => questions.accepted.has(key))
}
