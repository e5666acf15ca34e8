import { connect } from 'node:net'

const line = /^\+[\d.]+ \[\d+ ([^\]]+)\] (.+)$/u

/**
 * Calls a function with each command that a Redis server gets from now on, and with the address of its client. Not by
 * ioredis, which fails if a command arrives together with the confirmation.
 *
 * @returns a function that ends it
 */
export async function monitorRedis(
  { port }: { readonly port: number },
  onCommand: (parts: readonly string[], from: string) => void,
): Promise<() => void> {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('utf8')
  let rest = ''
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('data', (text) => {
      const lines = `${rest}${text}`.split('\r\n')
      rest = lines.pop() ?? ''
      for (const received of lines) {
        if (received === '+OK') resolve()
        const [, from, command] = line.exec(received) ?? []
        if (from === undefined || command === undefined) continue
        const parts = [...command.matchAll(/"((?:\\.|[^"\\])*)"/gu)].map(([, part = '']) => part)
        onCommand(parts, from)
      }
    })
    socket.write('MONITOR\r\n')
  })
  return () => socket.destroy()
}
