import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens for the response to one authorization request on this machine. */
export interface CallbackServer {
  /** The redirect URI with its port. */
  readonly redirectUri: string
  /** Resolves with the URL of the response. Rejects after the time limit. */
  response(seconds: number): Promise<URL>
  close(): void
}

const page = (title: string, sentence: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${sentence}</p></html>`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
}

function send(response: ServerResponse, status: number, title: string, sentence: string): void {
  response.writeHead(status, headers).end(page(title, sentence))
}

/**
 * Starts the server.
 *
 * @param registered the redirect URI of the client, on loopback; its port can be any (RFC 8252 section 7.3)
 * @param state the `state` of the request. A response without it is not for this request, and is ignored.
 */
export async function startCallbackServer(registered: string, state: string): Promise<CallbackServer> {
  const expected = new URL(registered)
  let receive: (response: URL) => void = () => {}
  const received = new Promise<URL>((resolve) => {
    receive = resolve
  })
  let base = expected

  function handle({ url = '', method }: IncomingMessage, response: ServerResponse): void {
    const target = URL.canParse(url, base) ? new URL(url, base) : undefined
    if (method !== 'GET' || target?.pathname !== expected.pathname) {
      send(response, 404, 'Not found', 'The login test uses another address.')
    } else if (target.searchParams.get('state') !== state) {
      send(response, 400, 'Not this test', 'This response belongs to another request. The login test still waits.')
    } else if (!target.searchParams.has('code') && !target.searchParams.has('error')) {
      send(response, 400, 'No response', 'This address has neither a code nor an error. The login test still waits.')
    } else {
      send(response, 200, 'Login test', 'The result is in the terminal. You can close this window.')
      receive(target)
    }
  }

  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, handle)
  const host = expected.hostname.replace(/^\[|\]$/gu, '')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  base = new URL(registered)
  base.port = String((server.address() as AddressInfo).port)

  return {
    redirectUri: base.href,
    async response(seconds) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new TypeError(`there was no response in ${seconds} seconds`)), seconds * 1000)
      })
      try {
        return await Promise.race([received, late])
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}
