import { Agent, type IncomingMessage, request } from 'node:http'
import type { Credentials } from '@grantry/testing'

/** The outcome of one request, as far as its sender can know. */
export type Outcome =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly retryAfter: string | undefined
      /** Parsed; `undefined` if it is empty or not JSON. */
      readonly body: Readonly<Record<string, unknown>> | undefined
    }
  /** No server was listening: the request was not read. */
  | { readonly kind: 'unreached' }
  /** The connection broke before the response was complete: whether the request had an effect is unknown. */
  | { readonly kind: 'broken' }
  /** No response in time; the request may still take effect. */
  | { readonly kind: 'overdue' }

export interface Post {
  readonly port: number
  readonly path: string
  readonly form: Readonly<Record<string, string>>
  readonly as: Credentials
}

/**
 * Milliseconds that a request may take. Longer than a server waits for its store, so that the server reports the
 * timeout.
 */
const timeLimit = 15_000

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

async function read(response: IncomingMessage): Promise<Outcome> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  // A server that dies while it responds leaves half a response.
  if (!response.complete) return { kind: 'broken' }
  return {
    kind: 'response',
    status: response.statusCode ?? 0,
    retryAfter: response.headers['retry-after'],
    body: parsed(Buffer.concat(chunks).toString()),
  }
}

/** Posts forms to loopback over kept-alive connections, and never resends by itself. */
export function createPost(): { post(what: Post): Promise<Outcome>; close(): void } {
  const agent = new Agent({ keepAlive: true })
  return {
    close: () => agent.destroy(),
    post: ({ port, path, form, as }) =>
      new Promise((resolve) => {
        const body = new URLSearchParams(form).toString()
        const headers = {
          authorization: `Basic ${Buffer.from(as.join(':')).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
        }
        const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers })
        const overdue = setTimeout(() => {
          resolve({ kind: 'overdue' })
          sent.destroy()
        }, timeLimit)
        const end = (outcome: Outcome): void => {
          clearTimeout(overdue)
          resolve(outcome)
        }
        sent.once('response', (response) => read(response).then(end, () => end({ kind: 'broken' })))
        sent.on('error', (error: NodeJS.ErrnoException) =>
          end({ kind: error.code === 'ECONNREFUSED' ? 'unreached' : 'broken' }),
        )
        sent.end(body)
      }),
  }
}
