import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web, webJwt } from '../support/fixture.ts'

const formOf = (username: string, scope = 'openid offline_access api1') => ({
  ...{ grant_type: 'password', username, password: `${username}-password`, scope },
})

type Tokens = Readonly<Record<string, unknown>>

/** Whether what a client has got is still accepted. */
const accepts: Readonly<Record<string, (f: Fixture, tokens: Tokens, of: typeof web) => Promise<boolean>>> = {
  introspection: async (f, { access_token: token }) =>
    (await f.post('introspection', { token: String(token) }, api1)).body.active === true,
  userinfo: async (f, { access_token: token }) => {
    const headers = { authorization: `Bearer ${String(token)}` }
    return (
      (await f.provider.handlers.userinfo?.(new Request('https://id.example.com/connect/userinfo', { headers })))
        ?.ok === true
    )
  },
  refresh: async (f, { refresh_token: token }, of) =>
    (await f.post('token', { grant_type: 'refresh_token', refresh_token: String(token) }, of)).status === 200,
  'an inspection of the identity token or access token': async (f, { id_token: identity, access_token: access }) =>
    (await f.provider.inspect(String(identity ?? access))).valid,
}

describe('revoke() of a user at one client', () => {
  test.each(Object.keys(accepts).flatMap((way) => [web, webJwt].map((of) => [way, of] as const)))(
    'ends what the client has, by %s, and nothing of others (%j)',
    async (way, of) => {
      const f = await fixture()
      const otherClient = of === web ? webJwt : web
      const issue = async (username: string, to: typeof web) => (await f.post('token', formOf(username), to)).body
      const [ended, ofBob, ofOther] = [
        await issue('alice', of),
        await issue('bob', of),
        await issue('alice', otherClient),
      ]
      await f.provider.revoke({ subject: '1', clientId: of[0] })
      const later = await issue('alice', of)
      const isAccepted = accepts[way]
      expect(await isAccepted?.(f, ended, of)).toBe(false)
      expect(await isAccepted?.(f, ofBob, of)).toBe(true)
      expect(await isAccepted?.(f, ofOther, otherClient)).toBe(true)
      expect(await isAccepted?.(f, later, of)).toBe(true)
    },
  )

  test('reaches another process, and codes', async () => {
    const storage = memoryDriver()
    const f = await fixture({ storage })
    const code = await f.code()
    const otherProcess = await fixture({ storage, runtime: { now: f.clock.now } })
    await otherProcess.provider.revoke({ subject: '1', clientId: 'web' })
    const form = { grant_type: 'authorization_code', code, redirect_uri: 'https://web.example.com/callback' }
    expect((await f.post('token', form, web)).status).toBe(400)
  })

  test.each([
    ['the user was revoked', { subject: '1' }],
    ['the client was revoked', { clientId: 'web' }],
    ['it was revoked', { subject: '1', clientId: 'web' }],
  ])('holds after %s, too', async (_when, target) => {
    const f = await fixture()
    const first = await f.post('token', formOf('alice'), web)
    await f.provider.revoke({ subject: '1', clientId: 'web' })
    const second = await f.post('token', formOf('alice'), web)
    await f.provider.revoke(target as { readonly subject: string })
    const third = await f.post('token', formOf('alice'), web)
    const accepted = [first, second, third].map(({ body }) => accepts.introspection?.(f, body, web))
    expect(await Promise.all(accepted)).toEqual([false, false, true])
  })

  test('never comes back, for any number of clients', async () => {
    const f = await fixture()
    const withdrawn = await f.post('token', formOf('alice'), web)
    await f.provider.revoke({ subject: '1', clientId: 'web' })
    const later = await f.post('token', formOf('alice'), web)
    for (let count = 0; count < 250; count += 1) await f.provider.revoke({ subject: '1', clientId: `client ${count}` })
    expect(await accepts.introspection?.(f, withdrawn.body, web)).toBe(false)
    // The withdrawals of more than 100 clients become one of all of them.
    expect(await accepts.introspection?.(f, later.body, web)).toBe(false)
    const last = await f.post('token', formOf('alice'), web)
    await f.provider.revoke({ subject: '1', clientId: 'another client' })
    expect(await accepts.introspection?.(f, last.body, web)).toBe(true)
  })
})
