import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createOpenIdDouble, type DoubleOptions, type OpenIdDouble } from './openid-double.ts'

export interface DoubleServer extends OpenIdDouble {
  close(): Promise<void>
}

/** An OpenID provider on loopback. Its user signs in without a page; `login_hint` names the user. */
export async function startDoubleServer(options: Omit<DoubleOptions, 'issuer'> = {}): Promise<DoubleServer> {
  let double: OpenIdDouble
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', double.issuer)
    if (url.pathname === '/authorize') {
      response.writeHead(302, { location: double.authorize(url) }).end()
      return
    }
    const { method = 'GET' } = request
    const body = method === 'POST' ? { body: await text(request) } : {}
    const answered = await double.fetch(url.href, { method, ...body })
    response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  double = await createOpenIdDouble({
    ...options,
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
  return {
    ...double,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
