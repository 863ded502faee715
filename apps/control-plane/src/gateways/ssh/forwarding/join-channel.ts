/** Joins a channel of the client with a connection in the Dock. Each direction ends on its own (half-close). */
import type { Duplex } from 'node:stream'
import { throttleLargeStream } from '@dock/foundation'
import type { SshChannel } from '@dock/ssh-server'
import type { SshConnection } from '../ssh-connection.ts'

/** `onEnd` is called once, when both have closed. */
export function joinChannel(
  { context, onClosed }: SshConnection,
  channel: SshChannel,
  stream: Duplex,
  onEnd: () => void,
): void {
  const { input, stdout, discard } = channel
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
  stdout.once('finish', () => {
    channel.endOutput()
    endHalf()
  })
  stream.once('finish', endHalf)
  stream.on('error', end)
  // A stream that closes without an end was cut.
  stream.once('close', () => {
    if (!stream.readableEnded) end()
  })
  // All that the client sent has been read by now, but may not have been written yet.
  channel.onClosed(() => {
    discard()
    if (stream.writableFinished) end()
    else stream.once('finish', end)
  })
  throttleLargeStream(input, stream, context.precedence)
  input.pipe(stream)
  throttleLargeStream(stream, stdout, context.precedence)
  stream.pipe(stdout)
}

/** Joins a channel that the gateway wanted to open, or ends the connection in the Dock if the client refused it. */
export function joinIfOpened(connection: SshConnection, channel: SshChannel | null, stream: Duplex): void {
  if (channel) joinChannel(connection, channel, stream, () => undefined)
  else stream.destroy()
}
