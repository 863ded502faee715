/** Joins a channel of the client with a connection in the Dock. Each direction ends on its own (half-close). */
import type { Duplex } from 'node:stream'
import { throttleLargeStream } from '@dock/foundation'
import type { ServerChannel } from 'ssh2'
import { createChannelOutputs } from '../channel-outputs.ts'
import type { SshConnection } from '../ssh-connection.ts'

/** `onEnd` is called once, when both have closed. */
export function joinChannel(
  { drain, context, onClosed }: SshConnection,
  channel: ServerChannel,
  stream: Duplex,
  onEnd: () => void,
): void {
  const { stdout, discard } = createChannelOutputs(channel, drain)
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    forget()
    discard()
    stream.destroy()
    channel.close()
    onEnd()
  }
  const forget = onClosed(end)
  let open = 2
  const endHalf = (): void => {
    open -= 1
    if (open === 0) end()
  }
  // `end` would close both directions of the channel.
  stdout.once('finish', () => {
    channel.eof()
    endHalf()
  })
  stream.once('finish', endHalf)
  stream.on('error', end)
  // A stream that closes without an end was cut.
  stream.once('close', () => {
    if (!stream.readableEnded) end()
  })
  // All that the client sent has been read by now, but may not have been written yet.
  channel.once('close', () => {
    discard()
    if (stream.writableFinished) end()
    else stream.once('finish', end)
  })
  throttleLargeStream(channel, stream, context.precedence)
  channel.pipe(stream)
  throttleLargeStream(stream, stdout, context.precedence)
  stream.pipe(stdout)
}
