import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createResponseReader, type ReceivedResponse } from '../load/response-reader.ts'

/** Milliseconds. */
const timeLimit = 30_000

const receive = (socket: Socket): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const read = createResponseReader()
    socket.setTimeout(timeLimit, () => reject(new Error('The server does not respond')))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed the connection')))
    socket.on('data', (chunk) => {
      try {
        const response = read(chunk.toString('latin1'))
        if (response !== undefined) resolve(response)
      } catch (error) {
        reject(error)
      }
    })
  })

/**
 * Sends concurrent requests, each on a connection that is open already, and returns the responses.
 *
 * @param requests their bytes
 * @throws Error when a connection fails.
 */
export async function askConcurrently(port: number, requests: readonly string[]): Promise<readonly ReceivedResponse[]> {
  const sockets = requests.map(() => connect({ port, host: '127.0.0.1', noDelay: true }))
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return await Promise.all(
      sockets.map((socket, index) => {
        const response = receive(socket)
        socket.write(requests[index] ?? '', 'latin1')
        return response
      }),
    )
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** Sends one request. */
export async function ask(port: number, request: string): Promise<ReceivedResponse> {
  const [response] = await askConcurrently(port, [request])
  if (response === undefined) throw new Error('No response')
  return response
}
