import { connect } from 'node:net'
import { lastResort } from '../support/eventually.ts'

/** Sends raw bytes and returns everything received until the server closes. `cut` half-closes. Fails when it does not. */
export function sendRaw(
  { port, host }: { readonly port: number; readonly host: string },
  text: string | Buffer,
  { cut = false } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    let response = ''
    const limit = setTimeout(() => {
      socket.destroy()
      reject(new Error(`connection still open; received: ${response}`))
    }, lastResort)
    socket.setEncoding('latin1')
    socket.on('data', (data) => {
      response += data
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(response)
    })
    if (cut) socket.end(text)
    else socket.write(text)
  })
}
