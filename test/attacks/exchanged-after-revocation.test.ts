/**
 * Attack: an application lets another client exchange its token, before its user withdraws the access, or the operator revokes the
 * application, whose secret has leaked. The token of the other client works on, and is exchanged back: the application has access
 * again that was ended.
 *
 * docs/decisions/0156-a-list-of-authorizations.md: what came from an access by exchange ends with it, over any number of clients
 * and whether a list has the authorization or not.
 */
import type { ClientOptions } from '@grantry/core'
import { type Credentials, mapDriver, sha256Of, storeGrant } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { exchange, service as other, setUp as setUpGrant } from '../custom-grant/continued-family.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'
import { app, grantType, service, setUp, typeOf } from '../token-exchange/exchange-parties.ts'

const redirectUri = 'https://app.example.com/callback'
const user = 'bdc@example.com'
const third: Credentials = ['third', 'third-secret']
const clientOf = ([clientId, secret]: Credentials, accessTokenFormat: 'jwt' | 'reference'): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: [grantType, 'authorization_code', 'refresh_token'],
  redirectUris: [redirectUri],
  scopes: ['openid', 'offline_access', 'front', 'api'],
  accessTokenFormat,
})
const formats = ['jwt', 'reference'] as const

type End = (f: Parties, clientId: string) => Promise<void>
const withdraw: End = (f, clientId) => f.provider.revoke({ subject: user, clientId })
const ends: Readonly<Record<string, End>> = {
  'the user withdraws its access': withdraw,
  'the operator revokes it': (f, clientId) => f.provider.revoke({ clientId }),
}
const cases = formats.flatMap((format) => Object.entries(ends).map(([title, end]) => [format, title, end] as const))

const partiesWith = (format: (typeof formats)[number], storage = mapDriver()) =>
  setUp({}, undefined, { storage, clients: [app, service, third].map((party) => clientOf(party, format)) })
type Parties = Awaited<ReturnType<typeof partiesWith>>

const isLive = async (f: Parties, token: string) => (await f.provider.inspect(token)).valid

/** Exchanges the token at one client after the other. */
async function passedOn(f: Parties, token: string, ...parties: readonly Credentials[]): Promise<string> {
  let last = token
  for (const party of parties) last = String((await f.exchange(last, {}, party)).body.access_token)
  return last
}

/** The clients that the token of the application goes to, one after the other. */
const ways: readonly (readonly Credentials[])[] = [
  [app],
  [service],
  [service, service],
  [service, app],
  [service, third],
  [service, third, app],
  [service, app, third, service],
]

describe.each(cases)('with access tokens as %s, when %s', (format, _title, end) => {
  test.each(ways.map((way) => [way.map(([id]) => id).join(', '), way] as const))(
    'nothing is left of an access that went to %s',
    async (_, way) => {
      const f = await partiesWith(format)
      const token = await passedOn(f, (await f.logIn()).access_token, ...way)
      expect(await isLive(f, token)).toBe(true)
      await end(f, app[0])
      expect(await isLive(f, token)).toBe(false)
      for (const party of [app, service, third]) expect((await f.exchange(token, {}, party)).status).toBe(400)
      // What the user authorizes again works, and goes where it went.
      const again = await passedOn(f, (await f.logIn()).access_token, ...way)
      expect(await isLive(f, again)).toBe(true)
      await end(f, app[0])
      expect(await isLive(f, again)).toBe(false)
    },
  )

  test('the end of a client in between ends what later ones have, and not what it came from', async () => {
    const f = await partiesWith(format)
    const first = (await f.logIn()).access_token
    const second = await passedOn(f, first, service)
    const last = await passedOn(f, second, third)
    await end(f, service[0])
    expect(await Promise.all([first, second, last].map((token) => isLive(f, token)))).toEqual([true, false, false])
  })

  test('the end of the client that has exchanged leaves the token that it has exchanged', async () => {
    const f = await partiesWith(format)
    const first = (await f.logIn()).access_token
    await end(f, service[0])
    expect(await isLive(f, first)).toBe(true)
    // The application lets it act again: no decision of the user was withdrawn that this one rests on.
    expect(await isLive(f, await passedOn(f, first, service))).toBe(true)
  })

  test('an exchange of a refresh token ends with the access, too', async () => {
    const f = await partiesWith(format)
    const { refresh_token } = await f.logIn()
    const more = { subject_token_type: typeOf('refresh_token'), scope: 'api' }
    const accessToken = String((await f.exchange(refresh_token, more, app)).body.access_token)
    const token = await passedOn(f, accessToken, service)
    expect(await isLive(f, token)).toBe(true)
    await end(f, app[0])
    expect(await isLive(f, token)).toBe(false)
  })

  test.each([
    ['to another client', []],
    ['back', [service]],
  ] as const)('an exchange %s gives nothing, at whichever call the access ends', async (_, before) => {
    const { storage, during } = interruptible(mapDriver())
    const f = await partiesWith(format, storage)
    const party = before.length === 0 ? service : app
    const authorized = async () => passedOn(f, (await f.logIn()).access_token, ...before)
    const left = await atEachCall(async (calls) => {
      const token = await authorized()
      const done = await during(
        calls,
        () => end(f, app[0]),
        () => f.exchange(token, {}, party),
      )
      const got = String(done?.body.access_token ?? '')
      return done && (got !== '' && (await isLive(f, got)) ? `a token after call ${calls}` : 'nothing')
    })
    expect(left.length).toBeGreaterThan(1)
    expect(left.filter((outcome) => outcome !== 'nothing')).toEqual([])
    // Otherwise, it would give nothing in any case.
    expect(await isLive(f, await passedOn(f, await authorized(), party))).toBe(true)
  })
})

test.each(formats)(
  'more than 100 withdrawals, which are stored as one, end the access as well, with access tokens as %s',
  async (format) => {
    const f = await partiesWith(format)
    const token = await passedOn(f, (await f.logIn()).access_token, service)
    for (let count = 0; count <= 100; count += 1) await withdraw(f, `other-${count}`)
    expect(await isLive(f, token)).toBe(false)
    const again = await passedOn(f, (await f.logIn()).access_token, service)
    expect(await isLive(f, again)).toBe(true)
    await withdraw(f, app[0])
    expect(await isLive(f, again)).toBe(false)
  },
)

test.each(formats)(
  'a token ends with the client of its actor token, which is of another user, with access tokens as %s',
  async (format) => {
    const f = await partiesWith(format)
    const authorization = { clientId: third[0], subject: { sub: 'bob', amr: ['pwd'] } }
    const actorOf = async () => {
      const code = await storeGrant(f.provider, { kind: 'code', redirectUri, scopes: ['front'], ...authorization })
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
      return String((await f.post(form, third)).body.access_token)
    }
    const acted = async () => {
      const actor = { actor_token: await actorOf(), actor_token_type: typeOf('access_token') }
      return String((await f.exchange((await f.logIn()).access_token, actor)).body.access_token)
    }
    const token = await acted()
    expect(await isLive(f, token)).toBe(true)
    // The user of the subject token has let this client have nothing.
    await withdraw(f, third[0])
    expect(await isLive(f, token)).toBe(true)
    await f.provider.revoke({ clientId: third[0] })
    expect(await isLive(f, token)).toBe(false)
    expect(await isLive(f, await acted())).toBe(true)
  },
)

test.each([
  ['the user withdraws its access', { subject: 'alice', clientId: 'app' }],
  ['the operator revokes it', { clientId: 'app' }],
])('a refresh token that a grant issued for a token of a client gives nothing after %s', async (_, target) => {
  const f = await setUpGrant(exchange(() => ({})))
  const bought = await f.exchange((await f.logIn()).access_token, 'access_token', 'api1 offline_access')
  const refresh = (refresh_token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token }, other)
  const refreshed = await refresh(String(bought.body.refresh_token))
  expect(refreshed.status).toBe(200)
  await f.provider.revoke(target)
  expect((await refresh(String(refreshed.body.refresh_token))).status).toBe(400)
})
