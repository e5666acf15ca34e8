import type { EndpointName } from '@grantry/core'
import { basic } from '@grantry/testing'
import { web } from '../support/fixture.ts'

export const url = 'https://id.example.com/x'
export const webOrigin = 'https://web.example.com'
export const spaOrigin = 'https://spa.example.com'
export const withCors: readonly EndpointName[] = ['token', 'userinfo', 'identityTokenValidation', 'revocation']
export const documents: readonly EndpointName[] = ['discovery', 'authorizationServerMetadata', 'jwks']

export const preflight = (origin: string, method = 'POST', headers: Record<string, string> = {}): Request =>
  new Request(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method, ...headers } })

export const permissions = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

export const tokenRequest = (origin: string, credentials: readonly [string, string] = web): Request =>
  new Request(url, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
    headers: { origin, authorization: basic(credentials) },
  })

export const allowedOrigin = ({ headers }: Response): string | null => headers.get('access-control-allow-origin')
