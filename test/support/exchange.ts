import { connect } from 'node:net'

/** Sends these bytes on a new connection; resolves with everything that is received until it closes. */
export const exchange = (port: number, head: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(head))
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
