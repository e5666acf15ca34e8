// What revokes what: docs/guides/client-metadata.md has the table.
import { userAuthorizations, userConsents, userSessions } from '@grantry/plugins/authorization-endpoint'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { choiceProvider, files, mail, yes } from '../sign-in/choosing.ts'
import { answer } from './browser.ts'
import { web } from './parties.ts'

type Setting = Awaited<ReturnType<typeof choiceProvider>>

const scope = 'openid read files:write mail:send offline_access'

/** Signs a user in at another installation of the client, and returns its tokens. */
async function install(f: Setting, user = 'alice', more: Readonly<Record<string, string>> = {}) {
  const { enter, submit, browser } = await f.start({ scope, resource: files, ...more })
  const page = await enter(user)
  const code = answer(await submit('consent', { decision: 'allow', ...yes('read', 'offline_access') }, page)).code
  const { body } = await f.redeem(code)
  return { access: String(body.access_token), refresh: String(body.refresh_token), browser }
}

async function installed() {
  const f = await choiceProvider({ accessTokenFormat: 'reference' })
  const laptop = await install(f)
  f.clock.advance(60)
  const [server, ofBob] = [await install(f), await install(f, 'bob')]
  const list = (sub = 'alice') => f.provider.use(userAuthorizations).list(sub)
  /** Which tokens of an installation are valid: access and refresh token. */
  const valid = ({ refresh, access }: Pick<typeof laptop, 'refresh' | 'access'>) =>
    Promise.all([access, refresh].map(async (token) => (await f.provider.inspect(token)).valid))
  const all = async () => [await valid(laptop), await valid(server), await valid(ofBob)]
  return { ...f, laptop, server, ofBob, list, valid, all }
}

const works = [true, true]
const ended = [false, false]

describe('what revokes what', () => {
  test('a refresh token at the revocation endpoint ends its installation', async () => {
    const { post, laptop, all, list } = await installed()
    expect(await all()).toEqual([works, works, works])
    await post('revocation', { token: laptop.refresh }, web)
    expect(await all()).toEqual([ended, works, works])
    expect(await list()).toHaveLength(1)
  })

  test('an access token at the revocation endpoint ends only itself', async () => {
    const { post, laptop, all, list } = await installed()
    await post('revocation', { token: laptop.access }, web)
    expect(await all()).toEqual([[false, true], works, works])
    expect(await list()).toHaveLength(2)
  })

  test('its family ends one installation', async () => {
    const { provider, all, list } = await installed()
    const [server, laptop] = await list()
    await provider.revoke({ family: laptop?.family ?? '' })
    expect(await all()).toEqual([ended, works, works])
    expect(await list()).toEqual([server])
  })

  test('a revocation of the user ends all installations of the user', async () => {
    const { provider, all, list } = await installed()
    await provider.revoke({ subject: 'alice' })
    expect(await all()).toEqual([ended, ended, works])
    expect([await list(), await list('bob')]).toMatchObject([[], [{ clientId: 'web' }]])
  })

  test('a revocation of the client ends all installations of all users', async () => {
    const { provider, all, list } = await installed()
    await provider.revoke({ clientId: 'web' })
    expect(await all()).toEqual([ended, ended, ended])
    expect([await list(), await list('bob')]).toEqual([[], []])
  })

  test('neither a revoked consent nor the end of all sessions ends an installation', async () => {
    const { provider, all, list } = await installed()
    await provider.use(userConsents).revoke('alice', 'web')
    await provider.use(userSessions).endAll('alice')
    expect(await all()).toEqual([works, works, works])
    expect(await list()).toHaveLength(2)
  })
})

describe('the list of the authorizations of a user', () => {
  test('has what each installation can do, the newest first', async () => {
    const { list, clock, provider, server } = await installed()
    const startedAt = clock.now()
    expect(await list()).toEqual([
      {
        family: (await provider.inspect(server.access)).family,
        clientId: 'web',
        scopes: ['openid', 'read', 'offline_access'],
        audiences: [files],
        startedAt,
        expiresAt: startedAt + 2_592_000,
      },
      expect.objectContaining({ startedAt: startedAt - 60 }),
    ])
  })

  test('does not have one that ends with its access token', async () => {
    const f = await choiceProvider()
    await install(f, 'alice', { scope: 'openid read mail:send', resource: mail })
    expect(await f.provider.use(userAuthorizations).list('alice')).toEqual([])
  })

  test('has those that can be used: what has ended displaces none', async () => {
    const f = await choiceProvider({ requireConsent: false })
    const list = () => f.provider.use(userAuthorizations).list('alice')
    const { enter, browser } = await f.start({ scope: 'openid offline_access' })
    await enter('alice')
    const renew = async (times: number) => {
      for (let index = 0; index < times; index += 1) {
        f.clock.advance(1)
        await f.start({ scope: 'openid offline_access', prompt: 'none' }, browser)
      }
    }
    const [oldest] = await list()
    await renew(59)
    for (const { family } of (await list()).slice(0, 59)) await f.provider.revoke({ family })
    expect(await list()).toEqual([oldest])
    await renew(60)
    expect((await list()).at(-1)).toEqual(oldest)
  })

  test('has the newest 100, and again one after a revocation', async () => {
    const f = await choiceProvider({ requireConsent: false })
    const list = () => f.provider.use(userAuthorizations).list('alice')
    const { enter, browser } = await f.start({ scope: 'openid offline_access' })
    await enter('alice')
    for (let index = 0; index < 104; index += 1) {
      f.clock.advance(1)
      await f.start({ scope: 'openid offline_access', prompt: 'none' }, browser)
    }
    const now = f.clock.now()
    expect((await list()).map(({ startedAt }) => now - startedAt)).toEqual(Array.from({ length: 100 }, (_, age) => age))
    await f.provider.revoke({ subject: 'alice' })
    expect(await list()).toEqual([])
    await (await f.start({ scope: 'openid offline_access' })).enter('alice')
    expect(await list()).toHaveLength(1)
  })

  test('reads which installations were revoked together', async () => {
    const reads: (readonly string[])[] = []
    const driver = mapDriver(new Map())
    const f = await choiceProvider(
      {},
      {},
      {
        storage: {
          ...driver,
          getItems(items) {
            reads.push(items.map(({ key }) => key.slice(0, key.indexOf(':'))))
            return Promise.all(items.map(async ({ key }) => ({ key, value: (await driver.getItem(key)) ?? null })))
          },
        },
      },
    )
    for (const _ of Array.from({ length: 3 })) await install(f)
    reads.length = 0
    expect(await f.provider.use(userAuthorizations).list('alice')).toHaveLength(3)
    expect(reads.filter((kinds) => kinds.includes('revoked'))).toEqual([['revoked', 'revoked', 'revoked']])
  })
})
