/**
 * What the patches use of ssh2 and its types do not promise. If one of these fails after an upgrade of ssh2, its name says
 * which field has changed and which patch needs it, and the message in which file of ssh2 to look.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exec, startTestPair, type TestPair } from '../testing/start-test-pair.ts'
import { clientSocketField } from './client-of-socket.ts'
import { waitingChunkFields } from './forget-waiting-chunks.ts'
import { guardFields } from './guard-channels.ts'
import { gcmFields, parserFields } from './large-packets.ts'
import { queueField } from './limit-unsent-bytes.ts'
import { closedOutputFields } from './notice-closed-outputs.ts'
import { agentChannelFields } from './open-agent-channel.ts'
import { exchangeFields, payloadFields } from './post-quantum-exchange.ts'
import { cipherKeyFields, decipherKeyFields, offerFields } from './prefer-gcm.ts'
import { findMissingField, type PrivateFields, privateFieldsOf } from './private-fields.ts'
import { packetFields } from './send-packet.ts'
import { endingField } from './take-late-requests.ts'
import { writeFields } from './write-whole-packets.ts'

/** By ssh2's object: what patches use of it. */
const used = {
  connection: [
    clientSocketField,
    guardFields,
    parserFields,
    queueField,
    closedOutputFields,
    agentChannelFields,
    payloadFields,
    offerFields,
    packetFields,
    writeFields,
  ],
  session: [endingField],
  channel: [waitingChunkFields],
  'key exchange': [exchangeFields],
  cipher: [cipherKeyFields],
  decipher: [decipherKeyFields, gcmFields],
} satisfies Record<string, readonly PrivateFields[]>
type Owner = keyof typeof used

const rows = Object.entries(used).flatMap(([owner, needs]) =>
  needs.flatMap(({ usedBy, fields }) =>
    Object.entries(fields).map(([path, field]) => ({
      owner: owner as Owner,
      path,
      usedBy,
      needed: { usedBy, fields: { [path]: field } },
    })),
  ),
)

const inside = (owner: object, name: string): object => Object(Reflect.get(owner, name))

let pair: TestPair
/** ssh2's objects, on a connection with AES-GCM whose one session runs a program. */
let owners: Record<Owner, object>

beforeAll(async () => {
  pair = await startTestPair()
  await exec(pair.client)
  const protocol = inside(pair.peer, '_protocol')
  const [session] = Object.values(inside(inside(pair.peer, '_chanMgr'), '_channels')) as object[]
  owners = {
    connection: pair.peer,
    session: Object(session),
    channel: inside(Object(session), '_channel'),
    'key exchange': inside(protocol, '_kex'),
    cipher: inside(protocol, '_cipher'),
    decipher: inside(protocol, '_decipher'),
  }
})
afterAll(() => pair?.stop())

it.each(rows)('the $owner of ssh2 has $path, which $usedBy uses', ({ owner, needed }) => {
  expect(findMissingField(owners[owner], needed)).toBeNull()
})

it('names the field that is missing, the patch that needs it, and where to look', () => {
  const needed: PrivateFields = {
    usedBy: 'x.ts',
    fields: { '_one._two': ['function', 'lib/a.js'], '_one._three': ['present', 'lib/b.js'] },
  }
  const find = (owner: object): string | null => findMissingField(owner, needed)
  expect(find({ _one: { _two: () => 0, _three: undefined } })).toBeNull()
  expect(find({ _one: { _two: 1, _three: 1 } })).toMatch(/_one\._two .*patches\/x\.ts.*ssh2\/lib\/a\.js/)
  expect(find({ _one: { _two: () => 0 } })).toMatch(/_one\._three .*ssh2\/lib\/b\.js/)
  expect(() => privateFieldsOf({}, needed)).toThrow('ssh2 has changed: _one._two')
})
