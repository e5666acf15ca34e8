import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export interface SmtpServerOptions {
  /** Offers STARTTLS with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined
  /** The response to a recipient. Default: accepts each. */
  readonly recipient?: ((address: string) => string | undefined) | undefined
  /** Never responds to a command that begins with this. */
  readonly stallsAt?: string | undefined
}

/** What a client has handed over, decoded. */
export interface ArrivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The header fields and the body, without the encoding of quoted-printable. */
  readonly data: string
  readonly isEncrypted: boolean
  readonly user: string | undefined
  /** The credentials of the sign-in, as they arrived, with `|` for separators. */
  readonly credentials: string
  /** The name in `EHLO`. */
  readonly greeting: string
}

const decoded = (data: string): string =>
  data
    .replaceAll('=\r\n', '')
    .replaceAll(/((?:=[0-9A-F]{2})+)/gu, (octets) => Buffer.from(octets.replaceAll('=', ''), 'hex').toString())

const addressIn = (line: string): string => /<([^>]*)>/u.exec(line)?.[1] ?? ''

/** Talks to one client. */
function converse(plain: Socket, options: SmtpServerOptions, keep: (mail: ArrivedMail) => void, seen: string[]): void {
  let socket: Socket = plain
  let buffer = ''
  let data: string | undefined
  let from = ''
  let to: string[] = []
  let user: string | undefined
  let credentials = ''
  let greeting = ''
  const isEncrypted = (): boolean => socket instanceof TLSSocket
  const say = (line: string): void => {
    socket.write(`${line}\r\n`)
  }

  function upgrade(): void {
    say('220 ready')
    plain.removeAllListeners('data')
    const secure = new TLSSocket(plain, { isServer: true, ...options.tls })
    secure.on('error', () => plain.destroy())
    socket = secure
    listen()
  }

  /** Returns the response to a command; `undefined` for none. */
  function responseTo(verb: string, line: string): string | undefined {
    switch (verb) {
      case 'EHLO': {
        greeting = line.slice('EHLO '.length)
        const extensions = ['test', ...(options.tls && !isEncrypted() ? ['STARTTLS'] : []), 'AUTH PLAIN']
        return [...extensions.map((extension) => `250-${extension}`), '250 SMTPUTF8'].join('\r\n')
      }
      case 'STARTTLS':
        if (options.tls === undefined) return '502 not here'
        upgrade()
        return undefined
      case 'AUTH': {
        const sent = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString()
        user = sent.split('\0')[1]
        credentials = sent.replaceAll(/\p{Cc}/gu, '|')
        return '235 ok'
      }
      case 'MAIL':
        from = addressIn(line)
        to = []
        return '250 ok'
      case 'RCPT': {
        const refusal = options.recipient?.(addressIn(line))
        if (refusal === undefined) to.push(addressIn(line))
        return refusal ?? '250 ok'
      }
      case 'DATA':
        data = ''
        return '354 go on'
      case 'QUIT':
        return '221 bye'
      default:
        return '250 ok'
    }
  }

  function command(line: string): void {
    const [verb = ''] = line.toUpperCase().split(' ')
    seen.push(verb)
    if (verb === options.stallsAt) return
    const response = responseTo(verb, line)
    if (response !== undefined) say(response)
    if (verb === 'QUIT') socket.end()
  }

  function line(text: string): void {
    if (data === undefined) {
      command(text)
      return
    }
    if (text !== '.') {
      data += `${text.startsWith('..') ? text.slice(1) : text}\r\n`
      return
    }
    keep({ from, to, data: decoded(data), isEncrypted: isEncrypted(), user, credentials, greeting })
    data = undefined
    say('250 accepted')
  }

  function listen(): void {
    socket.on('data', (chunk) => {
      buffer += chunk.toString('utf8')
      for (let end = buffer.indexOf('\r\n'); end !== -1; end = buffer.indexOf('\r\n')) {
        const text = buffer.slice(0, end)
        buffer = buffer.slice(end + 2)
        line(text)
      }
    })
  }
  plain.on('error', () => plain.destroy())
  say('220 test ESMTP')
  listen()
}

/** Starts a mail server on loopback, which keeps what it receives. */
export async function startSmtpServer(options: SmtpServerOptions = {}) {
  const mails: ArrivedMail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    converse(socket, options, (mail) => mails.push(mail), commands)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    commands,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
