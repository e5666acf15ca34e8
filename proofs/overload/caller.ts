import { connect } from 'node:net'

/**
 * The result of one request. `closed` or a system error code (`ECONNRESET`): the connection ended before a complete
 * response.
 */
export interface Outcome {
  readonly status: number | string
  /** Whether a 503 has `Retry-After` and a reason. */
  readonly hasRetryAfter: boolean
}

/** Sends one request at a time over a plain socket. A client library would distort the measurement. */
export interface Caller {
  send(): Promise<Outcome>
  end(): void
}

/** Returns where the first response in the text ends; `undefined` while it is incomplete. */
function endOfResponse(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const [, length] = /\r\ncontent-length: (\d+)/iu.exec(text.slice(0, head)) ?? []
  if (length !== undefined) return text.length >= head + 4 + Number(length) ? head + 4 + Number(length) : undefined
  const last = text.indexOf('0\r\n\r\n', head + 4)
  return last < 0 ? undefined : last + 5
}

const outcomeOf = (text: string): Outcome => ({
  status: Number(text.slice(9, 12)),
  hasRetryAfter: /\r\nretry-after: \d+\r\n/iu.test(text) && text.includes('"temporarily_unavailable"'),
})

/** @param request the bytes of the request; the connection is reused until the server closes it. */
export function createCaller(port: number, request: Buffer): Caller {
  let socket: ReturnType<typeof connect> | undefined
  let text = ''
  let waiting: ((outcome: Outcome) => void) | undefined

  function settle(outcome: Outcome): void {
    const resolve = waiting
    waiting = undefined
    resolve?.(outcome)
  }

  function open(): ReturnType<typeof connect> {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true })
    opened.setEncoding('latin1')
    opened.on('data', (data) => {
      if (opened !== socket) return
      text += data
      const end = endOfResponse(text)
      if (end === undefined) return
      const response = text.slice(0, end)
      text = text.slice(end)
      if (/\r\nconnection: close\r\n/iu.test(response)) {
        socket = undefined
        opened.end()
      }
      settle(outcomeOf(response))
    })
    let reason = 'closed'
    opened.on('error', (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message
    })
    opened.on('close', () => {
      if (opened !== socket) return
      socket = undefined
      settle({ status: reason, hasRetryAfter: false })
    })
    return opened
  }

  return {
    send() {
      return new Promise((resolve) => {
        waiting = resolve
        text = ''
        socket ??= open()
        socket.write(request)
      })
    },
    end() {
      const last = socket
      socket = undefined
      last?.destroy()
    },
  }
}
