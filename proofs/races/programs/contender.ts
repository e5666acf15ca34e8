// One of the processes of a race: a whole provider on the storage that all of them share, with latency on every
// operation.

import type { AtomicDriver, KeySource } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { idJag } from '@grantry/plugins/id-jag'
import { workloadIdentity } from '@grantry/plugins/workload-identity'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { basic, type Credentials } from '@grantry/testing'
import { importJWK, type JWK, SignJWT } from 'jose'
import { builtInPlugins, clients, type Fixture, fixture, redirectUri } from '../../../test/support/fixture.ts'
import { withLatency } from '../../../test/support/latency.ts'
import { takeOrders } from '../../../test/support/ordered-process.ts'
import { forgetfulDriver } from '../forgetful-driver.ts'
import {
  type Answers,
  api,
  type Credential,
  type Order,
  retried,
  type StoragePlace,
  sharing,
  signingClientId,
  strict,
  workloads,
} from '../orders.ts'

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const identityProvider = 'https://idp.example.com'

function driverAt(place: StoragePlace): AtomicDriver {
  switch (place.kind) {
    case 'memory':
      return memoryDriver()
    case 'filesystem':
      return filesystemDriver({ directory: place.directory, fsync: false })
    case 'sqlite':
      return sqliteDriver({ file: place.file, operationTimeout: 20 })
    case 'redis':
      return redisDriver({ url: place.url, operationTimeout: 20 })
    case 'postgresql':
      return postgresqlDriver({ url: place.url, operationTimeout: 20 })
    case 'cluster':
      return redisDriver({ cluster: place.urls, operationTimeout: 20 })
    case 'forgetful':
      return forgetfulDriver(memoryDriver())
  }
}

/** The client has the key of the provider: a race needs no other. */
async function start(place: StoragePlace, keys: readonly JWK[]): Promise<Fixture> {
  const driver = driverAt(place)
  await driver.open?.()
  const [model] = clients
  const client = (credentials: Credentials, retryWindow: number, gracePeriod = 0) => ({
    ...model,
    clientId: credentials[0],
    grantTypes: ['client_credentials', 'authorization_code', 'refresh_token', deviceGrantType, jwtBearer],
    refreshToken: { retryWindow, gracePeriod },
  })
  const publicKeys = keys.map(({ d, ...key }) => ({ ...key, kty: 'EC' }))
  return fixture({
    storage: withLatency(driver),
    storageTimeLimit: 30,
    keys: keys as KeySource,
    plugins: [
      ...builtInPlugins,
      clientAssertion(),
      dpop(),
      idJag({
        accept: {
          issuers: [{ issuer: identityProvider, jwks: { keys: publicKeys }, subject: 'same' }],
          requireResource: false,
        },
      }),
      deviceAuthorization({ verificationUri: 'https://a.example/device' }),
      workloadIdentity({
        issuers: Object.entries(workloads).map(([name, issuer]) => {
          return { platform: 'other', issuer, jwks: { keys: publicKeys }, singleUse: name === 'job' }
        }),
      }),
    ],
    clients: [
      client(strict, 0),
      client(retried, 300),
      client(sharing, 0, 3600),
      {
        clientId: signingClientId,
        jwks: { keys: publicKeys },
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
        accessTokenFormat: 'reference',
      },
      ...Object.entries(workloads).map(([clientId, issuer]) => ({
        clientId,
        workload: { issuer, subject: 'worker' },
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
        accessTokenFormat: 'reference' as const,
      })),
    ],
  })
}

async function deviceCode(f: Fixture, as: Credentials): Promise<string> {
  const { body } = await f.post('deviceAuthorization', { scope: 'openid offline_access api1' }, as)
  const page = f.provider.use(deviceVerification)
  await page.approve(body.user_code, '192.0.2.1', { subject: { sub: '1', amr: ['pwd'] } })
  return body.device_code
}

async function assertion(f: Fixture, keys: readonly JWK[]): Promise<string> {
  const claims = { iss: signingClientId, sub: signingClientId, aud: f.provider.issuer, jti: crypto.randomUUID() }
  return new SignJWT({ ...claims, exp: f.clock.now() + 60 })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(await importJWK(keys[0] ?? {}, 'ES256'))
}

/** Of an identity provider that has the key of the provider. */
async function identityAssertion(f: Fixture, keys: readonly JWK[], [clientId]: Credentials): Promise<string> {
  const claims = { iss: identityProvider, sub: '1', aud: f.provider.issuer, client_id: clientId, scope: 'api1' }
  return new SignJWT({ ...claims, jti: crypto.randomUUID(), iat: f.clock.now(), exp: f.clock.now() + 60 })
    .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt' })
    .sign(await importJWK(keys[0] ?? {}, 'ES256'))
}

async function workloadToken(f: Fixture, keys: readonly JWK[], kind: keyof typeof workloads): Promise<string> {
  const claims = { iss: workloads[kind], sub: 'worker', aud: f.provider.issuer, jti: crypto.randomUUID() }
  return new SignJWT({ ...claims, exp: f.clock.now() + 60 })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(await importJWK(keys[0] ?? {}, 'ES256'))
}

/** Signed with the key of the provider, too: which key it is does not matter. */
async function proof(f: Fixture, keys: readonly JWK[]): Promise<string> {
  const [{ kty = '', crv = '', x = '', y = '' } = {}] = keys
  return new SignJWT({ htm: 'POST', htu: `${f.provider.issuer}/token`, jti: crypto.randomUUID(), iat: f.clock.now() })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } })
    .sign(await importJWK(keys[0] ?? {}, 'ES256'))
}

async function prepare(f: Fixture, keys: readonly JWK[], credential: Credential, as: Credentials): Promise<string> {
  if (credential === 'device') return deviceCode(f, as)
  if (credential === 'assertion') return assertion(f, keys)
  if (credential === 'proof') return proof(f, keys)
  if (credential === 'job' || credential === 'pod') return workloadToken(f, keys, credential)
  if (credential === 'id-jag') return identityAssertion(f, keys, as)
  const code = await f.code({ clientId: as[0] })
  if (credential === 'code') return code
  const { status, body } = await f.post(
    'token',
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    as,
  )
  if (status !== 200) throw new Error(`no refresh token to race for: ${status} ${JSON.stringify(body)}`)
  return body.refresh_token
}

/** So many equal requests in one tick. */
async function race(
  f: Fixture,
  { form, headers: more, as, racers }: Extract<Order, { readonly what: 'race' }>,
): Promise<Answers> {
  const headers = {
    ...more,
    'content-type': 'application/x-www-form-urlencoded',
    ...(as !== undefined && { authorization: basic(as) }),
  }
  const body = new URLSearchParams(form).toString()
  const requests = Array.from(
    { length: racers },
    () => new Request(`${f.provider.issuer}/token`, { method: 'POST', headers, body }),
  )
  const responses = await Promise.all(
    requests.map(async (request) => {
      const response = await f.provider.handlers.token(request)
      return { status: response.status, text: await response.text() }
    }),
  )
  const refused: Record<string, number> = {}
  for (const { status, text } of responses) {
    if (status === 200) continue
    const refusal = `${status} ${JSON.parse(text).error}`
    refused[refusal] = (refused[refusal] ?? 0) + 1
  }
  return { granted: responses.flatMap(({ status, text }) => (status === 200 ? [text] : [])), refused }
}

async function carryOut(f: Fixture, keys: readonly JWK[], order: Order): Promise<unknown> {
  switch (order.what) {
    case 'prepare':
      return prepare(f, keys, order.credential, order.as)
    case 'race':
      return race(f, order)
    case 'introspect':
      return (await f.post('introspection', { token: order.token }, api)).body.active
    case 'refresh':
      return (await f.post('token', { grant_type: 'refresh_token', refresh_token: order.token }, order.as)).status
  }
}

const [place, keys] = JSON.parse(process.argv[2] ?? '[]')
const f = await start(place, keys)
takeOrders<Order>((order) => carryOut(f, keys, order))
