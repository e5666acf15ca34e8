import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cluster, github, gitlab, type Key, keys, trustDomain } from './parties.ts'

type Respond = (response: ServerResponse) => void

export const json =
  (value: unknown, status = 200): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

const jwks = (...sets: readonly Key[]) => json({ keys: sets.map(({ jwk }) => jwk) })

/** What the hosts of the issuers publish, by URL. */
export const published = (): Map<string, Respond> =>
  new Map([
    [`${github}/.well-known/openid-configuration`, json({ issuer: github, jwks_uri: `${github}/.well-known/jwks` })],
    [`${github}/.well-known/jwks`, jwks(keys.github)],
    [
      `${gitlab}/.well-known/openid-configuration`,
      json({ issuer: gitlab, jwks_uri: `${gitlab}/oauth/discovery/keys` }),
    ],
    [`${gitlab}/oauth/discovery/keys`, jwks(keys.gitlab)],
    [`${cluster}/.well-known/openid-configuration`, json({ issuer: cluster, jwks_uri: `${cluster}/openid/v1/jwks` })],
    [`${cluster}/openid/v1/jwks`, jwks(keys.cluster)],
    [
      'https://spire.example.com/bundle.json',
      json({
        keys: [{ ...keys.github.jwk, kid: 'spiffe-1', use: 'x509-svid' }, keys.spiffe.jwk],
        spiffe_sequence: 10,
        spiffe_refresh_hint: 300,
      }),
    ],
  ])

export const issuersByUrl = [
  { platform: 'github' as const },
  { platform: 'gitlab' as const },
  { platform: 'kubernetes' as const, issuer: cluster },
  { platform: 'spiffe' as const, issuer: trustDomain, jwksUri: 'https://spire.example.com/bundle.json' },
]

/** A server on the loopback interface that is every issuer: `fetch` sends requests for their hosts to it. */
export async function startIssuers(pages = published()) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    const url = String(request.headers['x-url'])
    requested.push(url)
    const respond = pages.get(url) ?? json({}, 404)
    respond(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    pages,
    requested,
    fetch: (url: string, init: RequestInit) =>
      fetch(`http://127.0.0.1:${port}`, { ...init, headers: { ...init.headers, 'x-url': url } }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
