import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHttpBrowser, signInOverHttp } from '../support/sign-in.ts'
import type { RecordingClient } from './recording-client.ts'

const verifier = 'a-verifier-of-this-run-that-nobody-may-read-0123456789'
const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))).toString(
  'base64url',
)

export const demo = ['demo', 'demo-secret'] as const
export const jwt = ['demo-jwt', 'demo-secret'] as const
const api1 = ['api1', 'api1-secret'] as const

/** The trace and span of a caller. */
export const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
/** Contains terminal control sequences and a line break. */
export const hostileId = 'evil\u009B31m\u202E"\n{"level":"info","type":"forged"}\\'

const scope = 'openid profile roles offline_access api1'
const token = '/connect/token'

const pages: Readonly<Record<string, string>> = {
  '/connect/authorize': 'authorization',
  '/connect/authorize/resume': 'authorizationResume',
  '/connect/signin': 'signIn',
  '/connect/consent': 'consent',
}

/** A browser whose requests are recorded. What its pages and cookies contain is secret. */
const browserOf = (http: RecordingClient, address: string) =>
  createHttpBrowser(async (url, init) => {
    const path = url.slice(address.length)
    const { status, headers, body } = await http.send(pages[path.split('?', 1)[0] ?? ''] ?? '', path, init)
    const text = String(body)
    for (const [, value = ''] of text.matchAll(/type="hidden" name="\w+" value="([^"]+)"/gu)) http.secrets.add(value)
    for (const cookie of headers.getSetCookie()) http.secrets.add(/=([^;]+)/u.exec(cookie)?.[1] ?? '')
    return { status, headers, body: text }
  })

async function grants(http: RecordingClient, address: string): Promise<void> {
  const logIn = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }
  for (const client of [demo, jwt]) {
    await http.post('token', token, { grant_type: 'client_credentials', scope: 'api1' }, client)
    const { body } = await http.post('token', token, logIn, client)
    const { access_token: access, refresh_token: refresh, id_token: identity } = body
    await http.post('introspection', '/connect/introspect', { token: access }, api1)
    await http.send('userinfo', '/connect/userinfo', { headers: { authorization: `Bearer ${access}` } })
    await http.post('accessTokenValidation', '/connect/accesstokenvalidation', { token: access })
    // The token in the query, which docs/spec/seed.md allows.
    await http.send('accessTokenValidation', `/connect/accesstokenvalidation?token=${access}&expectedScope=api2`)
    await http.post('identityTokenValidation', '/connect/identitytokenvalidation', {
      token: identity,
      client_id: client[0],
    })
    // Once, as a retry, and as a replay in another request, which revokes the family.
    const rotation = { grant_type: 'refresh_token', refresh_token: refresh }
    await http.post('token', token, rotation, client)
    await http.post('token', token, rotation, client)
    await http.post('token', token, { ...rotation, scope: 'openid api1' }, client)
    await http.post('introspection', '/connect/introspect', { token: access }, api1)
  }
  await http.post('token', token, { grant_type: 'urn:example:badge', badge_id: '123456', scope: 'api1' }, demo)
  await http.post('token', token, { grant_type: 'urn:example:badge', badge_id: '777777', scope: 'api1' }, demo)

  const redirect_uri = `${address}/demo/callback`
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
  const request = { client_id: 'demo-spa', redirect_uri, scope: 'openid api1', ...proof }
  const response = await signInOverHttp(address, request, ['alice', 'alice-password'], browserOf(http, address))
  const code = response.searchParams.get('code') ?? ''
  const exchange = {
    grant_type: 'authorization_code',
    client_id: 'demo-spa',
    code,
    redirect_uri,
    code_verifier: verifier,
  }
  await http.post('token', token, exchange)
  await http.post('token', token, exchange)

  const revocable = await http.post('token', token, logIn, demo)
  await http.post('revocation', '/connect/revocation', { token: revocable.body.access_token }, demo)
  await http.post('revocation', '/connect/revocation', { token: revocable.body.refresh_token }, demo)
}

async function refusals(http: RecordingClient): Promise<void> {
  const forClient = { grant_type: 'client_credentials', scope: 'api1' }
  const wrong = 'a-wrong+secret/of=this run'
  await http.post('token', token, forClient, ['demo', wrong])
  await http.post('token', token, { ...forClient, client_id: 'demo', client_secret: wrong })
  await http.post('token', token, forClient, [hostileId, wrong])
  await http.post('token', token, { ...forClient, client_id: hostileId })
  await http.post('token', token, { ...forClient, scope: `api1 ${hostileId}` }, demo)
  await http.post('token', token, { ...forClient, grant_type: hostileId }, demo)
  await http.post(
    'token',
    token,
    { grant_type: 'password', username: 'alice', password: 'a-wrong-password', scope: 'api1' },
    demo,
  )
  await http.post('token', token, { grant_type: 'refresh_token', refresh_token: 'an-unknown-refresh-token' }, demo)
  await http.post(
    'token',
    token,
    { grant_type: 'authorization_code', code: 'an-unknown-code', redirect_uri: 'http://x.invalid/' },
    demo,
  )
  await http.post('introspection', '/connect/introspect', { token: 'an-unknown-token' }, ['api1', wrong])
  await http.send('userinfo', '/connect/userinfo', { headers: { authorization: 'Bearer an-unknown-bearer-token' } })
  http.secrets.add('an-unknown-bearer-token')
  await http.send('token', token)
  await http.send('unknown', '/connect/token/a-secret-in-no-query?token=a-token-in-a-query&client_secret=another')
  http.secrets.add('a-token-in-a-query')
}

/** Headers of untrusted callers. */
export const hostileHeaders: readonly Readonly<Record<string, string>>[] = [
  { traceparent: '00-00000000000000000000000000000000-00f067aa0ba902b7-01' },
  { traceparent: `00-${caller.traceId.toUpperCase()}-${caller.spanId}-01` },
  { traceparent: `00-${caller.traceId}-${caller.spanId}-01-and more` },
  { traceparent: 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=stranger-in-tracestate' },
  { traceparent: '"}\\u000a{"level":"info"' },
  { 'x-request-id': 'a-request-id-of-a-stranger', 'user-agent': 'stranger-in-user-agent' },
  { 'x-forwarded-for': 'stranger-in-forwarded-for', referer: 'https://x.invalid/?token=stranger-in-referer' },
]

async function documents(http: RecordingClient): Promise<void> {
  for (const headers of hostileHeaders) await http.send('jwks', '/.well-known/jwks', { headers })
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
  await http.send('discovery', '/.well-known/openid-configuration', { headers: { traceparent } })
  await http.send('authorizationServerMetadata', '/.well-known/oauth-authorization-server')
  await http.send('discovery', '/.well-known/openid-configuration', { method: 'HEAD' })
  await http.send('token', token, {
    method: 'OPTIONS',
    headers: { origin: 'https://x.invalid', 'access-control-request-method': 'POST' },
  })
  await http.send('health', '/health/live')
  await http.send('health', '/health/ready')
}

/** Temporarily replaces the storage directory with a file. */
async function outage(http: RecordingClient, directory: string): Promise<void> {
  const storage = join(directory, '.grantry')
  renameSync(storage, `${storage}-away`)
  writeFileSync(storage, '')
  try {
    await http.post('token', token, { grant_type: 'client_credentials', scope: 'api1' }, demo)
    await http.send('health', '/health/ready')
  } finally {
    rmSync(storage)
    renameSync(`${storage}-away`, storage)
  }
}

/** Calls every endpoint of the demo server with valid and invalid requests. */
export async function mixedRun(http: RecordingClient, address: string, directory: string): Promise<void> {
  await grants(http, address)
  await refusals(http)
  await documents(http)
  await outage(http, directory)
}
