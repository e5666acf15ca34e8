import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { opaqueClient, redirectUri } from '../operations.ts'

/** A response to one request of a browser. */
interface Visit {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Returns where a page sends the browser, or the location itself. @param scopes those of the request */
export type Step = (location: string, scopes: readonly string[]) => Promise<string>

/** The cookies of a browser by name. */
export type Jar = Map<string, string>

export const jarOf = (header: string): Jar =>
  new Map(header.split('; ').flatMap((pair) => (pair === '' ? [] : [[pair.split('=')[0] ?? '', pair]])))

export const cookieHeader = (jar: Jar): string => [...jar.values()].join('; ')

async function visit(url: string, cookie: string): Promise<Visit> {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
  const body = await response.text()
  const location = response.headers.get('location')
  if (location === null) throw new Error(`No redirect: status ${response.status} ${body.slice(0, 300)}`)
  return { location, cookies: response.headers.getSetCookie() }
}

/**
 * Does what a browser does: keeps cookies, and follows redirects until one leads to the client.
 *
 * @returns the URL with the code
 */
export async function walk(url: string, jar: Jar, step: Step): Promise<string> {
  const scopes = new URL(url).searchParams.get('scope')?.split(' ') ?? []
  for (let at = url; ; ) {
    const { location, cookies } = await visit(at, cookieHeader(jar))
    for (const cookie of cookies) {
      const pair = cookie.split(';')[0] ?? ''
      jar.set(pair.split('=')[0] ?? '', pair)
    }
    if (location.startsWith(redirectUri)) return location
    at = await step(new URL(location, at).href, scopes)
  }
}

/** A program that walks for the load generator: one request to it is one walk. */
export interface Walker {
  readonly port: number
  stop(): void
}

/** Forwards all requests to a server, except those for a code, with which it walks. */
export async function startWalker(server: string, authorizationPath: string, step: Step): Promise<Walker> {
  const front = createServer(async (request, response) => {
    try {
      const { url = '', method = 'GET', headers } = request
      if (url.startsWith(authorizationPath)) {
        const location = await walk(server + url, jarOf(headers.cookie ?? ''), step)
        response.writeHead(302, { location, 'content-length': 0 }).end()
        return
      }
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { authorization = '', 'content-type': type = '' } = headers
      const forwarded = await fetch(server + url, {
        method,
        headers: { authorization, 'content-type': type },
        body: Buffer.concat(chunks),
      })
      const text = await forwarded.text()
      response.writeHead(forwarded.status, { 'content-length': Buffer.byteLength(text) }).end(text)
    } catch (error) {
      const text = String(error)
      response.writeHead(502, { 'content-length': Buffer.byteLength(text) }).end(text)
    }
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    port: (front.address() as AddressInfo).port,
    stop() {
      front.close()
      front.closeAllConnections()
    },
  }
}

/** The path and query of an authorization request for scopes. */
export const authorizationOf = (path: string, scopes: readonly string[]): string => {
  const [client_id] = opaqueClient
  const parameters = { client_id, response_type: 'code', redirect_uri: redirectUri, scope: scopes.join(' ') }
  return `${path}?${new URLSearchParams({ ...parameters, state: 'af0ifjsldkj', nonce: 'n-0S6_WzA2Mj' })}`
}
